! Persistent collectives from Fortran, and what starts and frees them.
program init
  use mpi_f08
#ifdef openmpi
  use mpi_f08_ext
#endif
  implicit none
  integer, parameter :: m = 9000
  integer :: rank, ranks, bad, all, i, turn
  integer, allocatable, asynchronous :: data(:), own(:), whole(:), sums(:)
  type(MPI_Request) :: requests(5), one, two
  bad = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate(data(m), own(m), whole(m * ranks), sums(m))
#ifdef openmpi
  call MPIX_Bcast_init(data, m, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
  call MPIX_Allgather_init(own, m, MPI_INTEGER, whole, m, MPI_INTEGER, MPI_COMM_WORLD, &
       MPI_INFO_NULL, requests(2))
  call MPIX_Allreduce_init(own, sums, m, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
       MPI_INFO_NULL, requests(3))
  call MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(4))
#else
  call MPI_Bcast_init(data, m, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
  call MPI_Allgather_init(own, m, MPI_INTEGER, whole, m, MPI_INTEGER, MPI_COMM_WORLD, &
       MPI_INFO_NULL, requests(2))
  call MPI_Allreduce_init(own, sums, m, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
       MPI_INFO_NULL, requests(3))
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(4))
#endif
  requests(5) = MPI_REQUEST_NULL
  one = requests(1)
  two = requests(3)
  do turn = 1, 4
    data = -1
    if (rank == 0) data = [(i * turn, i = 1, m)]
    own = [(i + 1000 * rank + turn, i = 1, m)]
    whole = -1
    sums = -1
    if (mod(turn, 2) == 0) then
      call MPI_Startall(4, requests)
      call MPI_Waitall(5, requests, MPI_STATUSES_IGNORE)
    else
      do i = 4, 1, -1
        call MPI_Start(requests(i))
      end do
      do i = 1, 4
        call MPI_Wait(requests(i), MPI_STATUS_IGNORE)
      end do
    end if
    if (requests(1) /= one .or. requests(3) /= two) bad = bad + 1
    do i = 1, m
      if (data(i) /= i * turn) bad = bad + 1
      if (sums(i) /= ranks * (i + turn) + 500 * ranks * (ranks - 1)) bad = bad + 1
    end do
    do i = 1, m * ranks
      if (whole(i) /= mod(i - 1, m) + 1 + 1000 * ((i - 1) / m) + turn) bad = bad + 1
    end do
  end do
  do i = 1, 4
    call MPI_Request_free(requests(i))
    if (requests(i) /= MPI_REQUEST_NULL) bad = bad + 1
  end do
  call MPI_Allreduce(bad, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (rank == 0 .and. all == 0) print '(A)', 'ok'
  if (all /= 0) stop 1
end program
