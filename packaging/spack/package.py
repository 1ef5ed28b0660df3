# Copy to var/spack/repos/builtin/packages/espalier/package.py, or to a repository of your own.
from spack.package import *


class Espalier(CMakePackage):
    """Measures unequal networks, plans collective communication for them, proves how far
    plans are from the optimum, and runs them under unmodified MPI programs."""

    license("Apache-2.0")

    # There is no release yet: `spack develop espalier@main` builds a tree.
    version("main", branch="main")

    variant("mpi", default=True, description="What runs inside MPI programs")
    variant("page", default=True, description="The live page of the advisor")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("npm", type="build", when="+page")
    depends_on("jansson")
    depends_on("expat")
    depends_on("coin-or-clp")
    depends_on("openssl@3:")
    depends_on("libmicrohttpd", when="+page")
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def setup_build_environment(self, env):
        # The build looks for wrappers by the MPI's own name, as Debian has them.
        if self.spec.satisfies("+mpi"):
            name = "mpich" if "mpich" in self.spec["mpi"].name else "openmpi"
            folder = join_path(self.stage.path, "wrappers")
            mkdirp(folder)
            symlink(self.spec["mpi"].mpicc, join_path(folder, "mpicc." + name))
            env.prepend_path("PATH", folder)

    def cmake_args(self):
        return ["-DESPALIER_TESTS=OFF", "-DESPALIER_BENCH=OFF", "-DESPALIER_WERROR=OFF"]
