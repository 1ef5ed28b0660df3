! Collectives from Fortran with `use mpi_f08`: handles are types, error codes are left out.
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
  do root = 0, nranks - 1
    call others(n / nranks, root, MPI_COMM_WORLD)
    call later(n / nranks, root, MPI_COMM_WORLD)
  end do
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
  ! The other collectives, with m numbers a rank.
  subroutine others(m, from, comm)
    integer, intent(in) :: m, from
    type(MPI_Comm), intent(in) :: comm
    integer :: me, ranks, i, r, code
    type(MPI_Request) :: request
    integer, allocatable :: own(:), whole(:), counts(:), at(:)
    double precision, allocatable :: x(:), y(:)
    call MPI_Comm_rank(comm, me)
    call MPI_Comm_size(comm, ranks)
    allocate(own(m), whole(m * ranks), counts(ranks), at(ranks), x(m), y(m))
    own = [(i + 1000 * me, i = 1, m)]
    whole = -1
    call MPI_Gather(own, m, MPI_INTEGER, whole, m, MPI_INTEGER, from, comm)
    if (me == from) call look(whole, m, ranks)
    own = -1
    if (me == from) then
      call MPI_Scatter(whole, m, MPI_INTEGER, MPI_IN_PLACE, m, MPI_INTEGER, from, comm)
      own = whole(m * me + 1 : m * me + m)
    else
      call MPI_Scatter(whole, m, MPI_INTEGER, own, m, MPI_INTEGER, from, comm, code)
      if (code /= MPI_SUCCESS) bad = bad + 1
    end if
    whole = -1
    whole(m * me + 1 : m * me + m) = own
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole, m, MPI_INTEGER, comm)
    call look(whole, m, ranks)
    counts = m
    at = [(m * (i - 1), i = 1, ranks)]
    whole = -1
    call MPI_Allgatherv(own, m, MPI_INTEGER, whole, counts, at, MPI_INTEGER, comm)
    call look(whole, m, ranks)
    x = [(dble(i) + me, i = 1, m)]
    own = -1
    if (me == from) own = [(2 * i, i = 1, m)]
    call MPI_Ibcast(own, m, MPI_INTEGER, from, comm, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    do i = 1, m
      if (own(i) /= 2 * i) bad = bad + 1
    end do
    call MPI_Reduce(x, y, m, MPI_DOUBLE_PRECISION, MPI_SUM, from, comm)
    if (me == from) then
      do i = 1, m
        if (y(i) /= dble(i) * ranks + ranks * (ranks - 1) / 2) bad = bad + 1
      end do
    end if
    call MPI_Barrier(comm)
    call MPI_Allreduce(MPI_IN_PLACE, x, m, MPI_DOUBLE_PRECISION, MPI_MAX, comm)
    do i = 1, m
      if (x(i) /= dble(i) + ranks - 1) bad = bad + 1
    end do
    whole = [(i + me, i = 1, m * ranks)]
    call MPI_Reduce_scatter(whole, own, counts, MPI_INTEGER, MPI_SUM, comm)
    do i = 1, m
      if (own(i) /= (i + m * me) * ranks + ranks * (ranks - 1) / 2) bad = bad + 1
    end do
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, whole, m, MPI_INTEGER, MPI_SUM, comm)
    if (any(whole(1:m) /= own)) bad = bad + 1
    whole = [(i + 7 * me, i = 1, m * ranks)]
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, whole, m, MPI_INTEGER, comm)
    do r = 0, ranks - 1
      do i = 1, m
        if (whole(m * r + i) /= m * me + i + 7 * r) bad = bad + 1
      end do
    end do
    ! parts of sizes that not all ranks know, and back where they were
    call MPI_Alltoallv(MPI_IN_PLACE, counts, at, MPI_INTEGER, whole, counts, at, MPI_INTEGER, comm)
    if (any(whole /= [(i + 7 * me, i = 1, m * ranks)])) bad = bad + 1
    call MPI_Scatterv(whole, counts, at, MPI_INTEGER, own, m, MPI_INTEGER, from, comm)
    if (any(own /= [(m * me + i + 7 * from, i = 1, m)])) bad = bad + 1
    own = [(i + 1000 * me, i = 1, m)]
    call MPI_Gatherv(own, m, MPI_INTEGER, whole, counts, at, MPI_INTEGER, from, comm, code)
    if (code /= MPI_SUCCESS) bad = bad + 1
    if (me == from) call look(whole, m, ranks)
    call MPI_Scan(own, whole, m, MPI_INTEGER, MPI_SUM, comm)
    if (any(whole(1:m) /= [((me + 1) * i + 500 * me * (me + 1), i = 1, m)])) bad = bad + 1
    call MPI_Exscan(MPI_IN_PLACE, own, m, MPI_INTEGER, MPI_SUM, comm)
    if (me > 0 .and. any(own /= whole(1:m) - [(i + 1000 * me, i = 1, m)])) bad = bad + 1
  end subroutine
  ! All kinds under way at once.
  subroutine later(m, from, comm)
    integer, intent(in) :: m, from
    type(MPI_Comm), intent(in) :: comm
    integer :: me, ranks, i, code
    type(MPI_Request) :: requests(9)
    type(MPI_Op) :: op
    procedure(MPI_User_function) :: take_larger
    integer, allocatable, asynchronous :: own(:), all(:), gathered(:), parts(:), part(:)
    integer, allocatable, asynchronous :: counts(:), at(:), sums(:), least(:), block(:)
    call MPI_Comm_rank(comm, me)
    call MPI_Comm_size(comm, ranks)
    allocate(own(m), all(m * ranks), gathered(m * ranks), parts(m * ranks), part(m))
    allocate(counts(ranks), at(ranks), sums(m), least(m), block(m))
    own = [(i + 1000 * me, i = 1, m)]
    all = -1
    all(m * me + 1 : m * me + m) = own
    gathered = -1
    parts = [((i + 1000 * ((i - 1) / m)) - m * ((i - 1) / m), i = 1, m * ranks)]
    counts = m
    at = [(m * (i - 1), i = 1, ranks)]
    least = own
    call MPI_Op_create(take_larger, .true., op)
    call MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, all, counts, at, MPI_INTEGER, &
         comm, requests(1), code)
    if (code /= MPI_SUCCESS) bad = bad + 1
    call MPI_Igather(own, m, MPI_INTEGER, gathered, m, MPI_INTEGER, from, comm, requests(2))
    call MPI_Iscatter(parts, m, MPI_INTEGER, part, m, MPI_INTEGER, from, comm, requests(3))
    call MPI_Ireduce(own, sums, m, MPI_INTEGER, MPI_SUM, from, comm, requests(4))
    call MPI_Iallreduce(MPI_IN_PLACE, least, m, MPI_INTEGER, op, comm, requests(5))
    call MPI_Ireduce_scatter_block(parts, block, m, MPI_INTEGER, MPI_SUM, comm, requests(6))
    call MPI_Op_free(op)
    if (op /= MPI_OP_NULL) bad = bad + 1
    call MPI_Ibarrier(comm, requests(7))
    requests(8:9) = MPI_REQUEST_NULL
    call MPI_Waitall(9, requests, MPI_STATUSES_IGNORE)
    call look(all, m, ranks)
    if (me == from) call look(gathered, m, ranks)
    call MPI_Iallgather(own, m, MPI_INTEGER, all, m, MPI_INTEGER, comm, requests(1))
    call MPI_Ireduce_scatter(parts, own, counts, MPI_INTEGER, MPI_SUM, comm, requests(2))
    call MPI_Waitall(1, requests(2:2), MPI_STATUSES_IGNORE)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    do i = 1, m
      if (part(i) /= i + 1000 * me) bad = bad + 1
      if (me == from .and. sums(i) /= i * ranks + 500 * ranks * (ranks - 1)) bad = bad + 1
      if (least(i) /= i + 1000 * (ranks - 1)) bad = bad + 1
      if (block(i) /= (i + 1000 * me) * ranks .or. own(i) /= block(i)) bad = bad + 1
    end do
    call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INTEGER, all, m, MPI_INTEGER, comm, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    do i = 1, m * ranks
      if (all(i) /= mod(i - 1, m) + 1 + 1000 * me) bad = bad + 1
    end do
    ! parts of sizes that not all ranks know
    own = [(i + 1000 * me, i = 1, m)]
    part = -1
    gathered = -1
    all = -1
    call MPI_Iscatterv(parts, counts, at, MPI_INTEGER, part, m, MPI_INTEGER, from, comm, requests(1))
    call MPI_Igatherv(own, m, MPI_INTEGER, gathered, counts, at, MPI_INTEGER, from, comm, requests(2))
    call MPI_Ialltoallv(parts, counts, at, MPI_INTEGER, all, counts, at, MPI_INTEGER, comm, &
         requests(3), code)
    if (code /= MPI_SUCCESS) bad = bad + 1
    call MPI_Waitall(3, requests(1:3), MPI_STATUSES_IGNORE)
    if (any(part /= own)) bad = bad + 1
    if (me == from) call look(gathered, m, ranks)
    do i = 1, m * ranks
      if (all(i) /= mod(i - 1, m) + 1 + 1000 * me) bad = bad + 1
    end do
  end subroutine
  subroutine look(whole, m, ranks)
    integer, intent(in) :: m, ranks, whole(*)
    integer :: i, r
    do r = 0, ranks - 1
      do i = 1, m
        if (whole(m * r + i) /= i + 1000 * r) bad = bad + 1
      end do
    end do
  end subroutine
end program
! Of two numbers the larger.
subroutine take_larger(a, b, length, type)
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  type(c_ptr), value :: a, b
  integer :: length
  type(MPI_Datatype) :: type
  integer, pointer :: x(:), y(:)
  call c_f_pointer(a, x, [length])
  call c_f_pointer(b, y, [length])
  if (type == MPI_INTEGER) y = max(x, y)
end subroutine
