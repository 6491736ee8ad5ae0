# layout: _Z4speci 3 0 3 9 2 4 | 1 5 6 7 8
	.text
	.file	"u.cc"
	.section	.text._Z4speci,"ax",@progbits
	.globl	_Z4speci
	.p2align	4, 0x90
	.type	_Z4speci,@function
_Z4speci:
.Lfunc_begin0:
	.cfi_startproc
	.cfi_personality 155, DW.ref.__gxx_personality_v0
	.cfi_lsda 27, .Lexception0
	pushq	%rbp
	.cfi_def_cfa_offset 16
	pushq	%r14
	.cfi_def_cfa_offset 24
	pushq	%rbx
	.cfi_def_cfa_offset 32
	subq	$16, %rsp
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -32
	.cfi_offset %r14, -24
	.cfi_offset %rbp, -16
.Ltmp0:
	callq	_Z1hi@PLT
.Ltmp1:
	movq	%rsp, %rdi
	callq	_ZN1DD1Ev@PLT
.LBB0_5:
	movl	$1, %ebp
.LBB0_6:
	leaq	8(%rsp), %rdi
	callq	_ZN1DD1Ev@PLT
	movl	%ebp, %eax
	addq	$16, %rsp
	.cfi_def_cfa_offset 32
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	retq
.LBB0_2:
	.cfi_def_cfa_offset 48
.Ltmp2:
	movq	%rdx, %rbx
	movq	%rax, %r14
	movq	%rsp, %rdi
	callq	_ZN1DD1Ev@PLT
	cmpl	$3, %ebx
	jne	.LBB0_8
	movq	%r14, %rdi
	callq	__cxa_begin_catch@PLT
	movl	(%rax), %ebx
.Ltmp3:
	movl	%ebx, %edi
	callq	_Z1hi@PLT
.Ltmp4:
	callq	__cxa_end_catch@PLT
	movl	$2, %ebp
	cmpl	$3, %ebx
	jle	.LBB0_5
	jmp	.LBB0_6
.LBB0_7:
.Ltmp5:
	movq	%rdx, %rbx
	movq	%rax, %r14
	callq	__cxa_end_catch@PLT
.LBB0_8:
	leaq	8(%rsp), %rdi
	callq	_ZN1DD1Ev@PLT
	movq	%r14, %rdi
	testl	%ebx, %ebx
	jns	.LBB0_10
	callq	__cxa_call_unexpected@PLT
.LBB0_10:
	callq	_Unwind_Resume@PLT
.Lfunc_end0:
	.size	_Z4speci, .Lfunc_end0-_Z4speci
	.cfi_endproc
	.section	.gcc_except_table._Z4speci,"a",@progbits
	.p2align	2
GCC_except_table0:
.Lexception0:
	.byte	255
	.byte	155
	.uleb128 .Lttbase0-.Lttbaseref0
.Lttbaseref0:
	.byte	1
	.uleb128 .Lcst_end0-.Lcst_begin0
.Lcst_begin0:
	.uleb128 .Ltmp0-.Lfunc_begin0
	.uleb128 .Ltmp1-.Ltmp0
	.uleb128 .Ltmp2-.Lfunc_begin0
	.byte	5
	.uleb128 .Ltmp1-.Lfunc_begin0
	.uleb128 .Ltmp3-.Ltmp1
	.byte	0
	.byte	0
	.uleb128 .Ltmp3-.Lfunc_begin0
	.uleb128 .Ltmp4-.Ltmp3
	.uleb128 .Ltmp5-.Lfunc_begin0
	.byte	3
	.uleb128 .Ltmp4-.Lfunc_begin0
	.uleb128 .Lfunc_end0-.Ltmp4
	.byte	0
	.byte	0
.Lcst_end0:
	.byte	0
	.byte	0
	.byte	127
	.byte	125
	.byte	3
	.byte	125
	.p2align	2
.Ltmp6:
	.long	.L_ZTIi.DW.stub-.Ltmp6
.Ltmp7:
	.long	.L_ZTI1B.DW.stub-.Ltmp7
.Ltmp8:
	.long	.L_ZTI1A.DW.stub-.Ltmp8
.Lttbase0:
	.byte	1
	.byte	2
	.byte	0
	.p2align	2
	.type	_ZTS1A,@object
	.section	.rodata._ZTS1A,"aG",@progbits,_ZTS1A,comdat
	.weak	_ZTS1A
_ZTS1A:
	.asciz	"1A"
	.size	_ZTS1A, 3
	.type	_ZTI1A,@object
	.section	.data.rel.ro._ZTI1A,"aGw",@progbits,_ZTI1A,comdat
	.weak	_ZTI1A
	.p2align	3
_ZTI1A:
	.quad	_ZTVN10__cxxabiv117__class_type_infoE+16
	.quad	_ZTS1A
	.size	_ZTI1A, 16
	.type	_ZTS1B,@object
	.section	.rodata._ZTS1B,"aG",@progbits,_ZTS1B,comdat
	.weak	_ZTS1B
_ZTS1B:
	.asciz	"1B"
	.size	_ZTS1B, 3
	.type	_ZTI1B,@object
	.section	.data.rel.ro._ZTI1B,"aGw",@progbits,_ZTI1B,comdat
	.weak	_ZTI1B
	.p2align	3
_ZTI1B:
	.quad	_ZTVN10__cxxabiv117__class_type_infoE+16
	.quad	_ZTS1B
	.size	_ZTI1B, 16
	.data
	.p2align	3
.L_ZTI1A.DW.stub:
	.quad	_ZTI1A
.L_ZTI1B.DW.stub:
	.quad	_ZTI1B
.L_ZTIi.DW.stub:
	.quad	_ZTIi
	.hidden	DW.ref.__gxx_personality_v0
	.weak	DW.ref.__gxx_personality_v0
	.section	.data.DW.ref.__gxx_personality_v0,"aGw",@progbits,DW.ref.__gxx_personality_v0,comdat
	.p2align	3
	.type	DW.ref.__gxx_personality_v0,@object
	.size	DW.ref.__gxx_personality_v0, 8
DW.ref.__gxx_personality_v0:
	.quad	__gxx_personality_v0
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
