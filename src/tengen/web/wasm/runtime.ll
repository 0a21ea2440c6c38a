; The memory of arrays that kernels make while they run: a stack. An array may be freed at any time;
; its space is used again once all arrays above it are freed. Numba calls these functions.
;
; Each array has a header of 64 bytes: references (at byte 0), offset of the array below (8),
; whether it is in use (12).

@room = internal global [4194304 x i8] zeroinitializer, align 64
@top = internal global i32 0
@last = internal global i32 -1

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
  %wanted = trunc i64 %size to i32
  %more = add i32 %wanted, 127
  %whole = and i32 %more, -64
  %at = load i32, ptr @top
  %end = add i32 %at, %whole
  %fits = icmp ule i32 %end, 4194304
  br i1 %fits, label %take, label %full
take:
  %header = getelementptr i8, ptr @room, i32 %at
  store i64 1, ptr %header
  %below = load i32, ptr @last
  %below_at = getelementptr i8, ptr %header, i32 8
  store i32 %below, ptr %below_at
  %used_at = getelementptr i8, ptr %header, i32 12
  store i32 1, ptr %used_at
  store i32 %at, ptr @last
  store i32 %end, ptr @top
  ret ptr %header
full:
  ret ptr null
}

define void @NRT_MemInfo_call_dtor(ptr %header) {
  %used_at = getelementptr i8, ptr %header, i32 12
  store i32 0, ptr %used_at
  br label %look
look:
  %last = load i32, ptr @last
  %none = icmp slt i32 %last, 0
  br i1 %none, label %done, label %see
see:
  %highest = getelementptr i8, ptr @room, i32 %last
  %use_at = getelementptr i8, ptr %highest, i32 12
  %use = load i32, ptr %use_at
  %free = icmp eq i32 %use, 0
  br i1 %free, label %drop, label %done
drop:
  store i32 %last, ptr @top
  %below_at = getelementptr i8, ptr %highest, i32 8
  %below = load i32, ptr %below_at
  store i32 %below, ptr @last
  br label %look
done:
  ret void
}

define void @NRT_incref(ptr %header) {
  %none = icmp eq ptr %header, null
  br i1 %none, label %done, label %count
count:
  %before = load i64, ptr %header
  %after = add i64 %before, 1
  store i64 %after, ptr %header
  br label %done
done:
  ret void
}

define void @NRT_decref(ptr %header) {
  %none = icmp eq ptr %header, null
  br i1 %none, label %done, label %count
count:
  %before = load i64, ptr %header
  %after = sub i64 %before, 1
  store i64 %after, ptr %header
  %unused = icmp eq i64 %after, 0
  br i1 %unused, label %free, label %done
free:
  call void @NRT_MemInfo_call_dtor(ptr %header)
  br label %done
done:
  ret void
}

define ptr @NRT_MemInfo_data_fast(ptr %header) {
  %data = getelementptr i8, ptr %header, i32 64
  ret ptr %data
}
