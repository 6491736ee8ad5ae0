# count: edges thread
	.file	"count.c"
	.text
	.p2align 4
	.type	called, @function
called:
.LFB0:
	.cfi_startproc
	testl	%edi, %edi
	je	.L2
	xorl	%eax, %eax
.L2:
	ret
	.cfi_endproc
.LFE0:
	.size	called, .-called
	.p2align 4
	.type	pointed, @function
pointed:
.LFB1:
	.cfi_startproc
	endbr64
.L4:
	movb	(%rdi), %al
	addq	$1, %rdi
	testb	%al, %al
	jne	.L4
	jmp	called
	.cfi_endproc
.LFE1:
	.size	pointed, .-pointed
	.p2align 4
	.type	looped, @function
looped:
.LFB2:
	.cfi_startproc
.L6:
	movq	%rdi, -8(%rsp)
	adcq	%rsi, %rdi
	jnc	.L6
	ret
	.cfi_endproc
.LFE2:
	.size	looped, .-looped
	.p2align 4
	.type	carried, @function
carried:
.LFB3:
	.cfi_startproc
.L8:
	adcq	%rsi, %rdi
	jmp	.L8
	.cfi_endproc
.LFE3:
	.size	carried, .-carried
	.p2align 4
	.type	hidden, @function
hidden:
.LFB4:
	.cfi_startproc
	.cfi_escape 0x2d
	endbr64
	call	called
	ret
	.cfi_endproc
.LFE4:
	.size	hidden, .-hidden
	.p2align 4
	.type	written, @function
written:
.LFB5:
	.cfi_startproc
	ret
	.cfi_endproc
.LFE5:
	.size	written, .-written
	.p2align 4
	.globl	begin
	.type	begin, @function
begin:
.LFB6:
	.cfi_startproc
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	call	called
	leaq	pointed(%rip), %rdi
	call	take@PLT
#APP
	call	written
#NO_APP
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE6:
	.size	begin, .-begin
	.section	.data.rel.local,"aw"
	.p2align 3
	.type	table, @object
	.size	table, 24
table:
	.quad	looped
	.quad	carried
	.quad	hidden
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
