! Broadcasts 8 MB from rank 0 ten times and tells how long one takes.
!
!   mpif90.mpich -o hello_bcast hello_bcast.f90
!   espalier run -p platform.json --stats -- mpiexec.mpich -n 4 ./hello_bcast
program hello_bcast
  use mpi_f08
  implicit none
  integer, parameter :: n = 1000000, times = 10
  real(8), allocatable :: data(:)
  real(8) :: start
  integer :: rank, nranks, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  allocate(data(n))
  data = merge(1d0, 0d0, rank == 0)

  call MPI_Barrier(MPI_COMM_WORLD)
  start = MPI_Wtime()
  do i = 1, times
    call MPI_Bcast(data, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  end do
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(I0, A, F0.1, A)', nranks, ' ranks, 8 MB: ', &
    (MPI_Wtime() - start) / times * 1d3, ' ms'

  if (any(data /= 1d0)) stop 1
  call MPI_Finalize()
end program
