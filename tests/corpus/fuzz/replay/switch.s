	.file	"sw.c"
	.text
	.section	.text.unlikely,"ax",@progbits
.LCOLDB0:
	.text
.LHOTB0:
	.p2align 4
	.globl	f
	.type	f, @function
f:
.LFB0:
	.cfi_startproc
	cmpl	$5, %edi
	ja	.L10
	leaq	.L4(%rip), %rdx
	movl	%edi, %edi
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
	.section	.rodata
	.align 4
	.align 4
.L4:
	.long	.L9-.L4
	.long	.L8-.L4
	.long	.L7-.L4
	.long	.L6-.L4
	.long	.L5-.L4
	.long	.L3-.L4
	.text
	.p2align 4,,10
	.p2align 3
.L5:
	movl	%esi, %eax
	notl	%eax
	ret
	.p2align 4,,10
	.p2align 3
.L3:
	leal	0(,%rsi,4), %eax
	ret
	.p2align 4,,10
	.p2align 3
.L9:
	leal	1(%rsi), %eax
	ret
	.p2align 4,,10
	.p2align 3
.L8:
	leal	(%rsi,%rsi,2), %eax
	ret
	.p2align 4,,10
	.p2align 3
.L7:
	movl	%esi, %eax
	xorl	$5, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	movslq	%esi, %rax
	movl	%esi, %edx
	imulq	$1431655766, %rax, %rax
	sarl	$31, %edx
	shrq	$32, %rax
	subl	%edx, %eax
	ret
	.cfi_endproc
	.section	.text.unlikely
	.cfi_startproc
	.type	f.cold, @function
f.cold:
.LFSB0:
.L10:
	movl	%esi, %eax
	ret
	.cfi_endproc
.LFE0:
	.text
	.size	f, .-f
	.section	.text.unlikely
	.size	f.cold, .-f.cold
.LCOLDE0:
	.text
.LHOTE0:
	.section	.text.startup,"ax",@progbits
	.p2align 4
	.globl	main
	.type	main, @function
main:
.LFB1:
	.cfi_startproc
	movslq	%edi, %rax
	leaq	t.0(%rip), %rdx
	xorl	%r8d, %r8d
	movq	%rax, %rcx
	imulq	$1431655766, %rax, %rax
	movl	%ecx, %esi
	sarl	$31, %esi
	shrq	$32, %rax
	subl	%esi, %eax
	leal	(%rax,%rax,2), %esi
	movl	%ecx, %eax
	subl	%esi, %eax
	cltq
	jmp	*(%rdx,%rax,8)
.L13:
	xorl	%esi, %esi
	movl	%ecx, %edi
	call	f
	movl	%eax, %r8d
.L14:
	movl	%r8d, %edi
	movl	%ecx, %esi
	call	f
	addl	%eax, %r8d
.L15:
	movl	%r8d, %eax
	ret
	.cfi_endproc
.LFE1:
	.size	main, .-main
	.section	.data.rel.ro.local,"aw"
	.align 16
	.type	t.0, @object
	.size	t.0, 24
t.0:
	.quad	.L13
	.quad	.L14
	.quad	.L15
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
