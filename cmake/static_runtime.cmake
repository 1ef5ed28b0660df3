# What a static program needs behind the linear solver and its BLAS, which say nothing of
# the languages that they are written in: the first of these that links. Sets
# ESPALIER_STATIC_RUNTIME; where none does (there is no static solver), the first.
include(CheckCSourceCompiles)

function(espalier_find_static_runtime)
  set(candidates "-lstdc++" "-lgfortran -lstdc++" "-lgfortran -lquadmath -lstdc++")
  set(CMAKE_REQUIRED_QUIET ON)
  foreach(candidate IN LISTS candidates)
    string(MAKE_C_IDENTIFIER "ESPALIER_STATIC_BY${candidate}" found)
    separate_arguments(libraries UNIX_COMMAND "${candidate} -lm -lpthread")
    set(CMAKE_REQUIRED_LIBRARIES -static ${CLP_STATIC_LDFLAGS} ${libraries})
    check_c_source_compiles(
      "void *Clp_newModel(void); int main(void) { return !Clp_newModel(); }" ${found})
    if(${found})
      set(ESPALIER_STATIC_RUNTIME "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  list(GET candidates 0 first)
  set(ESPALIER_STATIC_RUNTIME "${first}" PARENT_SCOPE)
endfunction()
espalier_find_static_runtime()
