! Broadcasts from Fortran with `use mpi_f08`: handles are types, error codes are left out.
program f08
  use mpi_f08
  implicit none
  integer, parameter :: n = 60000
  integer :: rank, nranks, root, bad, all, ierr
  integer, allocatable :: data(:)
  type(MPI_Comm) :: half, copy, none
  bad = 0
  allocate(data(n))
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  call MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, rank, none)
  if (none /= MPI_COMM_NULL) bad = bad + 1
  call MPI_Comm_dup(half, copy, ierr)
  if (ierr /= MPI_SUCCESS) bad = bad + 1
  do root = 0, nranks - 1
    call one(n, root, MPI_COMM_WORLD)
    call one(1, root, MPI_COMM_WORLD)
  end do
  call one(n - 7, 0, half)
  call MPI_Comm_free(half)
  call one(n - 9, 0, copy)
  call MPI_Comm_free(copy)
  call MPI_Allreduce(bad, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (rank == 0 .and. all == 0) print '(A)', 'ok'
  if (all /= 0) stop 1
contains
  subroutine one(length, from, comm)
    integer, intent(in) :: length, from
    type(MPI_Comm), intent(in) :: comm
    integer :: me, i, code
    call MPI_Comm_rank(comm, me)
    data(1:length) = -1
    if (me == from) data(1:length) = [(i * 3 + from, i = 1, length)]
    if (mod(from, 2) == 0) then
      call MPI_Bcast(data, length, MPI_INTEGER, from, comm)
    else
      call MPI_Bcast(data, length, MPI_INTEGER, from, comm, code)
      if (code /= MPI_SUCCESS) bad = bad + 1
    end if
    do i = 1, length
      if (data(i) /= i * 3 + from) bad = bad + 1
    end do
  end subroutine
end program
