# A program, whose functions alpha, beta and gamma move (new.s), and epsilon of an executable at fixed
# addresses (FIXED). It prints what they make. TO_JUMP, TO_WORD, TO_TABLE, TO_SYMBOL, ALIAS, SHOWN, TAKEN, THUNK and
# LEAK: see tests/unit/appended.c.
	.include "blocks.inc"
	.text

# Stubs and slots, as a PLT has them.
	.macro STUB name
	.globl	\name\()_stub, \name\()_slot
\name\()_stub:
	endbr64
	bnd jmp	*\name\()_slot(%rip)
	.pushsection .data.rel.ro, "aw", @progbits
	.p2align 3
\name\()_slot:
	.quad	\name
	.popsection
	.endm
	STUB	puts
	STUB	putchar
	STUB	abort
	STUB	__cxa_allocate_exception
	STUB	__cxa_throw
	STUB	__cxa_begin_catch
	STUB	__cxa_end_catch
	STUB	_Unwind_Resume
	.pushsection .data.rel.ro, "aw", @progbits
	.globl	personality_slot, int_slot, pointer, label, beta_pointer
personality_slot:
	.quad	__gxx_personality_v0
int_slot:
	.quad	_ZTIi
pointer:
	.quad	delta
label:
	.quad	alpha_2
beta_pointer:
	.quad	beta, beta
	.ifdef	SHOWN
	.long	beta
	.endif
	.popsection

# int alpha(int n): a switch, a loop, and a cold part.
	.p2align 4
	.globl	alpha, alpha.cold
	.type	alpha, @function
alpha:
	.cfi_startproc
	FRAGMENT alpha 0x1000 0 9
	BB	0
	endbr64
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movl	%edi, %ebx
	cmpl	$3, %edi
	ja	alpha_default
	BE
	BB	1
	movl	%edi, %edi
	leaq	alpha_table(%rip), %rdx
	.ifdef	LEAK
	movq	%rdx, %rcx
	.endif
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	notrack jmp *%rax
	BE
	BB	2
alpha_0:
	leaq	message(%rip), %rdi
	call	puts_stub
	movl	$1, %eax
	jmp	alpha_end
	BE
	.p2align 4
	BB	3
alpha_1:
	movl	counter(%rip), %eax
	BE
	.p2align 3
	BB	4
alpha_loop:
	addl	$2, %eax
	movl	%eax, counter(%rip)
	decl	%ebx
	jns	alpha_loop
	BE
	BB	5
	jmp	alpha_end
	BE
	BB	6
alpha_2:
	leal	40(%rbx), %edi
	call	beta
	testl	%eax, %eax
	js	alpha.cold
	BE
	BB	7
alpha_end:
	popq	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	BE
	BB	8
alpha_default:
	.cfi_restore_state
	xorl	%eax, %eax
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	BE
	.cfi_endproc
	.size	alpha, .-alpha
	.section .rodata
	.p2align 2
	.globl	alpha_table
alpha_table:
	.long	alpha_0 - alpha_table
	.long	alpha_1 - alpha_table
	.long	alpha_2 - alpha_table
	.long	alpha_1 - alpha_table
	.long	1
	.text
	.globl	message, other
	.pushsection .rodata.str1.1, "aMS", @progbits, 1
message:
	.string	"alpha"
other:
	.string	"beta"
	.popsection
	.pushsection .data
	.globl	counter
	.p2align 3
counter:
	.quad	5
	.popsection

	.type	alpha.cold, @function
alpha.cold:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	FRAGMENT alpha.cold 0x1000 1 2
	BB	9
	cmpl	$-1, %eax
	je	alpha_end
	BE
	BB	10
	call	abort_stub
	BE
	.cfi_endproc
	.size	alpha.cold, .-alpha.cold

# int beta(int n): calls through a pointer and a stub, and ends with one of two calls.
	.globl	beta
	.type	beta, @function
beta:
beta_begin:
	.cfi_startproc
	FRAGMENT beta 0x2000 0 4
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
	nopl	(%rax)
	cmpl	$42, %eax
	jne	beta_other
	BE
	BB	1
	call	putchar_stub
	leaq	other(%rip), %rdi
	addq	$8, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	jmp	puts_stub
	BE
	BB	2
beta_other:
	.cfi_restore_state
	movl	4(%rsp), %edi
	cmpb	$44, %dil
	je	beta_other
	BE
	BB	3
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	jmp	gamma
	BE
	.cfi_endproc
	.size	beta, .-beta

# int gamma(int n): catches what thrower throws.
	.p2align 4
	.globl	gamma
	.type	gamma, @function
gamma:
	.cfi_startproc
	.cfi_personality 0x9b, personality_slot
	.cfi_lsda 0x1b, gamma_lsda
	FRAGMENT gamma 0x3000 0 5
	BB	0
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movl	%edi, %ebp
gamma_try:
	call	thrower
gamma_tried:
	BE
	BB	1
	leal	1(%rbp), %eax
gamma_end:
	popq	%rbp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	BE
	BB	2
gamma_pad:
	.cfi_restore_state
	movq	%rax, %rdi
	cmpq	$1, %rdx
	jne	gamma_resume
	BE
	BB	3
	call	__cxa_begin_catch_stub
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
	BB	4
gamma_resume:
	.cfi_restore_state
	call	_Unwind_Resume_stub
gamma_last:
	BE
	.cfi_endproc
	.size	gamma, .-gamma
	.section .gcc_except_table, "a", @progbits
	.p2align 2
gamma_lsda:
	.byte	0xff, 0x9b
	.uleb128 gamma_types - 1f
1:	.byte	1
	.uleb128 3f - 2f
2:	.uleb128 gamma_try - gamma, gamma_tried - gamma_try, gamma_pad - gamma, 1
	.uleb128 gamma_try2 - gamma, gamma_tried2 - gamma_try2, 0, 0
	.uleb128 gamma_resume - gamma, gamma_last - gamma_resume, 0, 0
3:	.byte	1, 0
	.p2align 2
	.long	int_slot - .
gamma_types:
	.text

# Those that stay. delta comes into alpha by its jumps, too.
	.p2align 4
	.globl	thrower
	.type	thrower, @function
thrower:
	.cfi_startproc
	FRAGMENT thrower 0x4000 0 1
	BB	0
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movl	%edi, %ebx
	movl	$4, %edi
	call	__cxa_allocate_exception_stub
	movl	%ebx, (%rax)
	movq	%rax, %rdi
	movq	int_slot(%rip), %rsi
	xorl	%edx, %edx
	call	__cxa_throw_stub
	BE
	.cfi_endproc
	.size	thrower, .-thrower
	.globl	delta
	.type	delta, @function
delta:
	.cfi_startproc
	FRAGMENT delta 0x5000 0 1
	BB	0
	movl	%edi, %eax
	ret
	BE
	.cfi_endproc
	.size	delta, .-delta

	.ifdef	FIXED
# int epsilon(int n): a switch by addresses.
	.globl	epsilon
	.type	epsilon, @function
epsilon:
	.cfi_startproc
	FRAGMENT epsilon 0x7000 0 4
	BB	0
	cmpl	$2, %edi
	ja	epsilon_2
	BE
	BB	1
	movl	%edi, %edi
	jmp	*epsilon_table(,%rdi,8)
	BE
	BB	2
epsilon_1:
	movl	$33, %eax
	ret
	BE
	BB	3
epsilon_2:
	leal	(%rdi,%rdi), %eax
	ret
	BE
	.cfi_endproc
	.size	epsilon, .-epsilon
	.pushsection .rodata
	.p2align 3
epsilon_table:
	.quad	epsilon_1, epsilon_2, epsilon_1, 1
	.popsection
	.endif

# What leads into the first five bytes of alpha.
	.ifdef	TO_JUMP
	jmp	alpha + 5
	.endif
	.ifdef	TO_WORD
	.pushsection .data
	.quad	alpha + 5
	.popsection
	.endif
	.ifdef	TO_TABLE
	leaq	to_table(%rip), %rax
	.pushsection .rodata
	.p2align 2
to_table:
	.long	main - to_table, alpha + 5 - to_table, 1
	.popsection
	.endif
	.ifdef	TO_SYMBOL
	.globl	to_symbol
	.type	to_symbol, @function
	.set	to_symbol, alpha + 5
	.endif

# ALIAS, SHOWN, TAKEN: the address of beta, which pointers to it have to be.
	.ifdef	ALIAS
	.globl	alias
	.set	alias, beta_begin
	.endif
	.ifdef	TAKEN
	leaq	beta(%rip), %rax
	.endif

	.globl	main
	.type	main, @function
main:
	.cfi_startproc
	FRAGMENT main 0x6000 0 3
	BB	0
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movl	$4, %ebx
	BE
	BB	1
main_loop:
	movl	%ebx, %edi
	.ifdef	FIXED
	call	epsilon
	movl	%eax, %edi
	.endif
	call	alpha
	leal	48(%rax), %edi
	andl	$127, %edi
	call	putchar_stub
	movl	$10, %edi
	call	putchar_stub
	decl	%ebx
	jns	main_loop
	BE
	BB	2
	xorl	%eax, %eax
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	BE
	.cfi_endproc
	.size	main, .-main
	.section .note.GNU-stack, "", @progbits
