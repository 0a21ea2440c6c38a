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

; Reshape an array without gaps: write the strides of the new dimensions.
define i32 @numba_attempt_nocopy_reshape(i64 %n, ptr %dims, ptr %strides, i64 %new_n, ptr %new_dims,
    ptr %new_strides, i64 %item, i32 %fortran) {
  %last = sub i64 %new_n, 1
  br label %look
look:
  %i = phi i64 [ %last, %0 ], [ %before, %write ]
  %stride = phi i64 [ %item, %0 ], [ %more, %write ]
  %over = icmp slt i64 %i, 0
  br i1 %over, label %done, label %write
write:
  %stride_at = getelementptr i64, ptr %new_strides, i64 %i
  store i64 %stride, ptr %stride_at
  %dim_at = getelementptr i64, ptr %new_dims, i64 %i
  %dim = load i64, ptr %dim_at
  %more = mul i64 %stride, %dim
  %before = sub i64 %i, 1
  br label %look
done:
  ret i32 1
}

; The product of two numbers of 128 bits, which LLVM calls where it checks sizes for overflow.
define void @__multi3(ptr %out, i64 %a, i64 %a_high, i64 %b, i64 %b_high) noinline {
  %a0 = and i64 %a, 4294967295
  %a1 = lshr i64 %a, 32
  %b0 = and i64 %b, 4294967295
  %b1 = lshr i64 %b, 32
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %p10 = mul i64 %a1, %b0
  %p11 = mul i64 %a1, %b1
  %carry = lshr i64 %p00, 32
  %low01 = and i64 %p01, 4294967295
  %low10 = and i64 %p10, 4294967295
  %some = add i64 %carry, %low01
  %middle = add i64 %some, %low10
  %low00 = and i64 %p00, 4294967295
  %shifted = shl i64 %middle, 32
  %low = or i64 %low00, %shifted
  %high01 = lshr i64 %p01, 32
  %high10 = lshr i64 %p10, 32
  %over = lshr i64 %middle, 32
  %h1 = add i64 %p11, %high01
  %h2 = add i64 %h1, %high10
  %h3 = add i64 %h2, %over
  %cross1 = mul i64 %a, %b_high
  %cross2 = mul i64 %a_high, %b
  %h4 = add i64 %h3, %cross1
  %high = add i64 %h4, %cross2
  store i64 %low, ptr %out
  %high_at = getelementptr i64, ptr %out, i32 1
  store i64 %high, ptr %high_at
  ret void
}
