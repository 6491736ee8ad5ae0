# count: edges
	.file	"c3.c"
	.text
	.p2align 4
	.globl	run
	.type	run, @function
run:
.LFB0:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	leaq	t.0(%rip), %rbp
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset 3, -24
	movq	%rdi, %rbx
	movl	%esi, %edi
	subq	$8, %rsp
	.cfi_def_cfa_offset 32
	movzbl	(%rbx), %eax
	jmp	*0(%rbp,%rax,8)
	.p2align 4,,10
	.p2align 3
.L6:
	addq	$8, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 24
	movl	%edi, %eax
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	.cfi_restore_state
	call	h@PLT
	addq	$1, %rbx
	movl	%eax, %edi
	movzbl	(%rbx), %eax
	movq	0(%rbp,%rax,8), %rax
	jmp	*%rax
	.p2align 4,,10
	.p2align 3
.L3:
	movzbl	1(%rbx), %eax
	addq	$2, %rbx
	addl	%eax, %edi
	movzbl	(%rbx), %eax
	movq	0(%rbp,%rax,8), %rax
	jmp	*%rax
	.cfi_endproc
.LFE0:
	.size	run, .-run
	.section	.data.rel.ro.local,"aw"
	.align 16
	.type	t.0, @object
	.size	t.0, 24
t.0:
	.quad	.L3
	.quad	.L4
	.quad	.L6
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
