C     Collectives from Fortran with mpif.h: every root, several sizes and
C     communicators, and addresses from MPI_BOTTOM.
      program f77
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 50000)
      integer data(n), ierr, rank, nranks, root, i, bad, all
      integer half, copy, size, btype, lens(1)
      integer(kind=MPI_ADDRESS_KIND) at(1)
      bad = 0
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
      call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(rank, 2), rank, half,
     &     ierr)
      call MPI_COMM_DUP(MPI_COMM_WORLD, copy, ierr)
      do root = 0, nranks - 1
         call one(data, n, root, MPI_COMM_WORLD, bad)
         call one(data, 3, root, copy, bad)
         call one(data, 0, root, copy, bad)
      end do
      call MPI_COMM_SIZE(half, size, ierr)
      do root = 0, size - 1
         call one(data, n - 1, root, half, bad)
      end do
      call MPI_COMM_FREE(half, ierr)
      call MPI_COMM_FREE(copy, ierr)
      call MPI_GET_ADDRESS(data, at(1), ierr)
      lens(1) = n
      call MPI_TYPE_CREATE_HINDEXED(1, lens, at, MPI_INTEGER, btype,
     &     ierr)
      call MPI_TYPE_COMMIT(btype, ierr)
      do i = 1, n
         data(i) = -1
         if (rank .eq. 0) data(i) = 3 * i
      end do
      call MPI_BCAST(MPI_BOTTOM, 1, btype, 0, MPI_COMM_WORLD, ierr)
      do i = 1, n
         if (data(i) .ne. 3 * i) bad = bad + 1
      end do
      call MPI_TYPE_FREE(btype, ierr)
      do root = 0, nranks - 1
         call others(data, n / nranks, root, bad)
         call later(n / nranks, root, rank, nranks, bad)
      end do
      call MPI_ALLREDUCE(bad, all, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      call MPI_FINALIZE(ierr)
      if (rank .eq. 0 .and. all .eq. 0) print '(A)', 'ok'
      if (all .ne. 0) stop 1
      end

      subroutine one(data, n, root, comm, bad)
      implicit none
      include 'mpif.h'
      integer n, data(*), root, comm, bad, rank, i, ierr
      call MPI_COMM_RANK(comm, rank, ierr)
      do i = 1, n
         data(i) = -1
         if (rank .eq. root) data(i) = i * 7 + root
      end do
      call MPI_BCAST(data, n, MPI_INTEGER, root, comm, ierr)
      if (ierr .ne. MPI_SUCCESS) bad = bad + 1
      do i = 1, n
         if (data(i) .ne. i * 7 + root) bad = bad + 1
      end do
      end

C     The other collectives, with m numbers a rank.
      subroutine others(data, m, root, bad)
      implicit none
      include 'mpif.h'
      integer m, data(*), root, bad, rank, nranks, i, r, ierr
      integer own(50000), counts(64), at(64), request
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
      do i = 1, m
         own(i) = i + 1000 * rank
      end do
      call MPI_GATHER(own, m, MPI_INTEGER, data, m, MPI_INTEGER, root,
     &     MPI_COMM_WORLD, ierr)
      if (rank .eq. root) then
         call look(data, m, nranks, bad)
         call MPI_SCATTER(data, m, MPI_INTEGER, MPI_IN_PLACE, m,
     &        MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
      else
         call MPI_SCATTER(data, m, MPI_INTEGER, own, m,
     &        MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
      end if
      do i = 1, m * nranks
         data(i) = -1
      end do
      do i = 1, m
         data(m * rank + i) = own(i)
      end do
      call MPI_ALLGATHER(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, m,
     &     MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call look(data, m, nranks, bad)
      do r = 1, nranks
         counts(r) = m
         at(r) = m * (r - 1)
      end do
      do i = 1, m * nranks
         data(i) = -1
      end do
      call MPI_ALLGATHERV(own, m, MPI_INTEGER, data, counts, at,
     &     MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call look(data, m, nranks, bad)
      do i = 1, m
         if (rank .eq. root) data(i) = 2 * i
      end do
      call MPI_IBCAST(data, m, MPI_INTEGER, root, MPI_COMM_WORLD,
     &     request, ierr)
      call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
      do i = 1, m
         if (data(i) .ne. 2 * i) bad = bad + 1
      end do
      call MPI_REDUCE(own, data, m, MPI_INTEGER, MPI_SUM, root,
     &     MPI_COMM_WORLD, ierr)
      if (rank .eq. root) then
         do i = 1, m
            if (data(i) .ne. i * nranks + 500 * nranks * (nranks - 1))
     &           bad = bad + 1
         end do
      end if
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (ierr .ne. MPI_SUCCESS) bad = bad + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, own, m, MPI_INTEGER, MPI_MIN,
     &     MPI_COMM_WORLD, ierr)
      do i = 1, m
         if (own(i) .ne. i) bad = bad + 1
      end do
C     All have the parts of all, and get the sum of their own.
      do i = 1, m * nranks
         data(i) = i + rank
      end do
      call MPI_REDUCE_SCATTER(data, own, counts, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      do i = 1, m
         if (own(i) .ne. (i + m * rank) * nranks
     &        + nranks * (nranks - 1) / 2) bad = bad + 1
      end do
      call MPI_REDUCE_SCATTER_BLOCK(MPI_IN_PLACE, data, m, MPI_INTEGER,
     &     MPI_SUM, MPI_COMM_WORLD, ierr)
      do i = 1, m
         if (data(i) .ne. own(i)) bad = bad + 1
      end do
      do i = 1, m * nranks
         data(i) = i + 7 * rank
      end do
      call MPI_ALLTOALL(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, m,
     &     MPI_INTEGER, MPI_COMM_WORLD, ierr)
      do r = 1, nranks
         do i = 1, m
            if (data(m * (r - 1) + i) .ne. m * rank + i + 7 * (r - 1))
     &           bad = bad + 1
         end do
      end do
C     Parts of sizes that not all ranks know, and back where they were.
      call MPI_ALLTOALLV(MPI_IN_PLACE, counts, at, MPI_DATATYPE_NULL,
     &     data, counts, at, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      do i = 1, m * nranks
         if (data(i) .ne. i + 7 * rank) bad = bad + 1
      end do
      call MPI_SCATTERV(data, counts, at, MPI_INTEGER, own, m,
     &     MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
      do i = 1, m
         if (own(i) .ne. m * rank + i + 7 * root) bad = bad + 1
         own(i) = i + 1000 * rank
      end do
      call MPI_GATHERV(own, m, MPI_INTEGER, data, counts, at,
     &     MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
      if (rank .eq. root) call look(data, m, nranks, bad)
      call MPI_SCAN(own, data, m, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      call MPI_EXSCAN(MPI_IN_PLACE, own, m, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      do i = 1, m
         if (data(i) .ne. (rank + 1) * i + 500 * rank * (rank + 1))
     &        bad = bad + 1
         if (rank .gt. 0 .and.
     &        own(i) .ne. rank * i + 500 * rank * (rank - 1))
     &        bad = bad + 1
      end do
      end

C     All kinds under way at once.
      subroutine later(m, root, rank, nranks, bad)
      implicit none
      include 'mpif.h'
      integer most
      parameter (most = 60000)
      integer m, root, rank, nranks, bad, i, r, ierr
      integer all(most), gath(most), parts(most)
      integer own(most), part(most), sums(most), most1(most)
      integer block(most), counts(64), at(64), req(8)
      do r = 1, nranks
         counts(r) = m
         at(r) = m * (r - 1)
      end do
      do i = 1, m * nranks
         all(i) = -1
         parts(i) = mod(i - 1, m) + 1 + 1000 * ((i - 1) / m)
      end do
      do i = 1, m
         own(i) = i + 1000 * rank
         most1(i) = own(i)
      end do
      call MPI_IALLGATHERV(own, m, MPI_INTEGER, all, counts, at,
     &     MPI_INTEGER, MPI_COMM_WORLD, req(1), ierr)
      call MPI_IGATHER(own, m, MPI_INTEGER, gath, m, MPI_INTEGER, root,
     &     MPI_COMM_WORLD, req(2), ierr)
      call MPI_ISCATTER(parts, m, MPI_INTEGER, part, m, MPI_INTEGER,
     &     root, MPI_COMM_WORLD, req(3), ierr)
      call MPI_IREDUCE(own, sums, m, MPI_INTEGER, MPI_SUM, root,
     &     MPI_COMM_WORLD, req(4), ierr)
      call MPI_IALLREDUCE(MPI_IN_PLACE, most1, m, MPI_INTEGER, MPI_MAX,
     &     MPI_COMM_WORLD, req(5), ierr)
      call MPI_IREDUCE_SCATTER(parts, block, counts, MPI_INTEGER,
     &     MPI_SUM, MPI_COMM_WORLD, req(6), ierr)
      call MPI_IBARRIER(MPI_COMM_WORLD, req(7), ierr)
      if (ierr .ne. MPI_SUCCESS) bad = bad + 1
      req(8) = MPI_REQUEST_NULL
      call MPI_WAITALL(8, req, MPI_STATUSES_IGNORE, ierr)
      if (ierr .ne. MPI_SUCCESS) bad = bad + 1
      call look(all, m, nranks, bad)
      if (rank .eq. root) call look(gath, m, nranks, bad)
      do i = 1, m
         if (part(i) .ne. i + 1000 * rank) bad = bad + 1
         if (rank .eq. root .and. sums(i) .ne. i * nranks
     &        + 500 * nranks * (nranks - 1)) bad = bad + 1
         if (most1(i) .ne. i + 1000 * (nranks - 1)) bad = bad + 1
         if (block(i) .ne. (i + 1000 * rank) * nranks) bad = bad + 1
      end do
      call MPI_IALLGATHER(own, m, MPI_INTEGER, gath, m, MPI_INTEGER,
     &     MPI_COMM_WORLD, req(1), ierr)
      call MPI_IREDUCE_SCATTER_BLOCK(parts, part, m, MPI_INTEGER,
     &     MPI_SUM, MPI_COMM_WORLD, req(2), ierr)
      call MPI_WAIT(req(2), MPI_STATUS_IGNORE, ierr)
      call MPI_WAIT(req(1), MPI_STATUS_IGNORE, ierr)
      call look(gath, m, nranks, bad)
      do i = 1, m
         if (part(i) .ne. block(i)) bad = bad + 1
      end do
      call MPI_IALLTOALL(gath, m, MPI_INTEGER, all, m, MPI_INTEGER,
     &     MPI_COMM_WORLD, req(1), ierr)
      call MPI_WAIT(req(1), MPI_STATUS_IGNORE, ierr)
      do i = 1, m * nranks
         if (all(i) .ne. mod(i - 1, m) + 1 + 1000 * rank) bad = bad + 1
         all(i) = -1
         gath(i) = -1
      end do
C     Parts of sizes that not all ranks know.
      call MPI_ISCATTERV(parts, counts, at, MPI_INTEGER, part, m,
     &     MPI_INTEGER, root, MPI_COMM_WORLD, req(1), ierr)
      call MPI_IGATHERV(own, m, MPI_INTEGER, gath, counts, at,
     &     MPI_INTEGER, root, MPI_COMM_WORLD, req(2), ierr)
      call MPI_IALLTOALLV(parts, counts, at, MPI_INTEGER, all, counts,
     &     at, MPI_INTEGER, MPI_COMM_WORLD, req(3), ierr)
      if (ierr .ne. MPI_SUCCESS) bad = bad + 1
      call MPI_WAITALL(3, req, MPI_STATUSES_IGNORE, ierr)
      if (rank .eq. root) call look(gath, m, nranks, bad)
      do i = 1, m
         if (part(i) .ne. own(i)) bad = bad + 1
      end do
      do i = 1, m * nranks
         if (all(i) .ne. mod(i - 1, m) + 1 + 1000 * rank) bad = bad + 1
      end do
      end

      subroutine look(data, m, nranks, bad)
      implicit none
      integer m, nranks, data(*), bad, i, r
      do r = 0, nranks - 1
         do i = 1, m
            if (data(m * r + i) .ne. i + 1000 * r) bad = bad + 1
         end do
      end do
      end
