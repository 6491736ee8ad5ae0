# New bodies of functions of old.s, with all that layouts may do to them. What is not here is the
# original's, by its address. SHORT: see tests/unit/appended.c.
	.include "blocks.inc"
	.text

	.globl	alpha_body, beta_body, gamma_body
	PAD	.p2align 4
alpha_body:
	.cfi_startproc
	FRAGMENT alpha_body 0x1000 0 10
	BB	0
	endbr64
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movl	%edi, %ebx
	cmpl	$3, %edi
	jbe	1f
	jmp	alpha_8
	BE
	BB	2
alpha_2:
	leaq	message(%rip), %rdi
	call	*puts_slot(%rip)
	movl	$1, %eax
	BE
	BB	7
	popq	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	BE
	BB	1
1:
	.cfi_restore_state
	movl	%edi, %edi
	leaq	table(%rip), %rdx
	.ifdef	LEAK
	movq	%rdx, %rcx
	.endif
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	notrack jmp *%rax
	BE
	PAD	.p2align 5
	BB	6
alpha_6:
	leal	40(%rbx), %edi
	call	beta_body
	testl	%eax, %eax
	js	alpha_body.cold
	BE
	BB	5
	BE
	BB	7
alpha_7:
	popq	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	BE
	BB	3
alpha_3:
	.cfi_restore_state
	movl	counter(%rip), %eax
	BE
	PAD	.p2align 4
	BB	4
alpha_4:
	addl	$2, %eax
	movl	%eax, counter(%rip)
	decl	%ebx
	js	alpha_7
	jmp	alpha_4
	BE
	BB	8
alpha_8:
	xorl	%eax, %eax
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	BE
	.cfi_endproc

	PAD	.p2align 2
alpha_body.cold:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	FRAGMENT alpha_body.cold 0x1000 1 2
	BB	9
	cmpl	$-1, %eax
	je	alpha_7
	BE
	BB	10
	call	abort_stub
	BE
	.cfi_endproc

	PAD	.skip 3, 0xcc
beta_body:
	.cfi_startproc
	FRAGMENT beta_body 0x2000 0 4
	BB	0
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	movl	%edi, 4(%rsp)
	.ifdef	THUNK
	call	1f
1:
	addq	$8, %rsp
	.endif
	call	*pointer(%rip)
	cmpl	$42, %eax
	je	3f
	BE
	BB	2
2:
	movl	4(%rsp), %edi
	cmpb	$44, %dil
	je	2b
	BE
	BB	3
	addq	$8, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	jmp	gamma_body
	BE
	BB	1
3:
	.cfi_restore_state
	call	*putchar_slot(%rip)
	leaq	other(%rip), %rdi
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	jmp	*puts_slot(%rip)
	BE
	.cfi_endproc

gamma_body:
	.cfi_startproc
	.cfi_personality 0x9b, personality_slot
	.cfi_lsda 0x1b, lsda
	FRAGMENT gamma_body 0x3000 0 5
	BB	0
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movl	%edi, %ebp
gamma_try:
	call	thrower
gamma_tried:
	jmp	gamma_1
	BE
	BB	2
gamma_pad:
	movq	%rax, %rdi
	cmpq	$1, %rdx
	je	gamma_3
	BE
	BB	4
gamma_resume:
	call	_Unwind_Resume_stub
gamma_resumed:
	BE
	BB	3
gamma_3:
	call	*__cxa_begin_catch_slot(%rip)
	movl	(%rax), %ebp
gamma_try2:
	call	__cxa_end_catch_stub
gamma_tried2:
	movl	%ebp, %eax
	popq	%rbp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	BE
	BB	1
gamma_1:
	.cfi_restore_state
	leal	1(%rbp), %eax
	popq	%rbp
	.cfi_def_cfa_offset 8
	ret
	BE
	.cfi_endproc

	.ifdef	FIXED
	.globl	epsilon_body
	PAD	.p2align 4
epsilon_body:
	.cfi_startproc
	FRAGMENT epsilon_body 0x7000 0 4
	BB	0
	cmpl	$2, %edi
	jbe	1f
	BE
	BB	3
epsilon_3:
	leal	(%rdi,%rdi), %eax
	ret
	BE
	BB	2
epsilon_2:
	movl	$33, %eax
	ret
	BE
	BB	1
1:
	movl	%edi, %edi
	jmp	*fixed_table(,%rdi,8)
	BE
	.cfi_endproc
	.pushsection .rodata
	.p2align 3
fixed_table:
	.quad	epsilon_2, epsilon_3, epsilon_2
	.popsection
	.endif

	.section .gcc_except_table, "a", @progbits
	.p2align 2
lsda:
	.byte	0xff, 0x9b
	.uleb128 types - 1f
1:	.byte	1
	.uleb128 3f - 2f
2:	.uleb128 gamma_try - gamma_body, gamma_tried - gamma_try, gamma_pad - gamma_body, 1
	.uleb128 gamma_resume - gamma_body, gamma_resumed - gamma_resume, 0, 0
	.uleb128 gamma_try2 - gamma_body, gamma_tried2 - gamma_try2, 0, 0
3:	.byte	1, 0
	.p2align 2
	.long	int_slot - .
types:
	.section .rodata
	.p2align 2
table:
	.long	alpha_2 - table
	.long	alpha_3 - table
	.long	alpha_6 - table
	.ifndef	SHORT
	.long	alpha_3 - table
	.endif
	.section .note.GNU-stack, "", @progbits
