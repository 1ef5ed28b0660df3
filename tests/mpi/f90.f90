! Broadcasts from Fortran with `use mpi`: reals, two-dimensional arrays, columns of them,
! a Cartesian grid.
program f90
  use mpi
  implicit none
  integer, parameter :: n = 200
  double precision :: matrix(n, n), row(n)
  integer :: ierr, rank, nranks, root, bad, all, provided, grid, rows, i
  integer :: dims(1), coords(1)
  logical :: periods(1)
  bad = 0
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  dims(1) = nranks
  periods(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., grid, ierr)
  call MPI_Cart_coords(grid, rank, 1, coords, ierr)
  if (coords(1) /= rank) bad = bad + 1
  do root = 0, nranks - 1
    matrix = -1
    if (rank == root) matrix = root + 0.5d0
    call MPI_Bcast(matrix, n * n, MPI_DOUBLE_PRECISION, root, grid, ierr)
    bad = bad + count(matrix /= root + 0.5d0)
  end do
  ! one row of a matrix is a vector with gaps; the others receive it in one piece
  call MPI_Type_vector(n, 1, n, MPI_DOUBLE_PRECISION, rows, ierr)
  call MPI_Type_commit(rows, ierr)
  do i = 1, n
    matrix(5, i) = i
    row(i) = -1
  end do
  if (rank == 0) then
    call MPI_Bcast(matrix(5, 1), 1, rows, 0, MPI_COMM_WORLD, ierr)
    row = matrix(5, :)
  else
    call MPI_Bcast(row, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end if
  do i = 1, n
    if (row(i) /= i) bad = bad + 1
  end do
  call MPI_Type_free(rows, ierr)
  call MPI_Comm_free(grid, ierr)
  call MPI_Allreduce(bad, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (rank == 0 .and. all == 0) print '(A)', 'ok'
  if (all /= 0) stop 1
end program
