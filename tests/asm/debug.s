# layout: ag 5 0 2 1
# layout: tail 6 0 4 2 1 3
# layout: flags 7 0 3 2 | 1
	.file	"c3.c"
	.text
.Ltext0:
	.file 0 "/tmp/t" "c3.c"
	.p2align 4
	.globl	ag
	.type	ag, @function
ag:
.LFB0:
	.file 1 "c3.c"
	.loc 1 2 15
	.cfi_startproc
	.loc 1 2 17
#APP
# 2 "c3.c" 1
	testl %edi, %edi
	jz .L2
# 0 "" 2
	.loc 1 2 85 discriminator 2
#NO_APP
	jmp	h@PLT
	.p2align 4,,10
	.p2align 3
.L2:
	.loc 1 2 104 discriminator 1
	movq	tls@gottpoff(%rip), %rax
	movl	%fs:(%rax), %eax
	.loc 1 2 109 discriminator 1
	ret
	.cfi_endproc
.LFE0:
	.size	ag, .-ag
	.p2align 4
	.globl	tail
	.type	tail, @function
tail:
.LFB1:
	.loc 1 3 17
	.cfi_startproc
	.loc 1 3 22
	cmpl	$3, %edi
	jg	.L7
	.loc 1 3 43 discriminator 2
#APP
# 3 "c3.c" 1
	nop
1:
	decl %eax
	jnz 1b
# 0 "" 2
	.loc 1 3 122 discriminator 2
#NO_APP
	testl	%edi, %edi
	jne	.L8
	.loc 1 3 127
	movl	$7, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L8:
	.loc 1 3 113 discriminator 3
	addl	$1, %edi
.L7:
	jmp	h@PLT
	.cfi_endproc
.LFE1:
	.size	tail, .-tail
	.p2align 4
	.globl	flags
	.type	flags, @function
flags:
.LFB2:
	.loc 1 4 31
	.cfi_startproc
	.loc 1 4 54
	ucomisd	%xmm1, %xmm0
	jp	.L10
	jne	.L10
	.loc 1 4 49 discriminator 1
	movl	$1, %edi
	jmp	h@PLT
	.p2align 4,,10
	.p2align 3
.L10:
	.loc 1 4 31 discriminator 2
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	.loc 1 4 56 discriminator 2
	movl	$2, %edi
	call	h@PLT
	.loc 1 4 66 discriminator 2
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	.loc 1 4 54 discriminator 2
	addl	$1, %eax
	.loc 1 4 66 discriminator 2
	ret
	.cfi_endproc
.LFE2:
	.size	flags, .-flags
.Letext0:
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0x82
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0x2
	.long	.LASF4
	.byte	0x1d
	.long	.LASF0
	.long	.LASF1
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.long	.Ldebug_line0
	.uleb128 0x3
	.string	"tls"
	.byte	0x1
	.byte	0x1
	.byte	0x21
	.uleb128 0x4
	.string	"h"
	.byte	0x1
	.byte	0x1
	.byte	0x5
	.uleb128 0x1
	.long	.LASF2
	.byte	0x4
	.quad	.LFB2
	.quad	.LFE2-.LFB2
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x1
	.long	.LASF3
	.byte	0x3
	.quad	.LFB1
	.quad	.LFE1-.LFB1
	.uleb128 0x1
	.byte	0x9c
	.uleb128 0x5
	.string	"ag"
	.byte	0x1
	.byte	0x2
	.byte	0x5
	.quad	.LFB0
	.quad	.LFE0-.LFB0
	.uleb128 0x1
	.byte	0x9c
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0x21
	.sleb128 5
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x1f
	.uleb128 0x1b
	.uleb128 0x1f
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3c
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x3c
	.uleb128 0x19
	.byte	0
	.byte	0
	.uleb128 0x5
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_aranges,"",@progbits
	.long	0x2c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	0
	.quad	0
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF2:
	.string	"flags"
.LASF4:
	.string	"GNU C17 12.2.0 -mtune=generic -march=x86-64 -g1 -O2 -fasynchronous-unwind-tables"
.LASF3:
	.string	"tail"
	.section	.debug_line_str,"MS",@progbits,1
.LASF1:
	.string	"/tmp/t"
.LASF0:
	.string	"c3.c"
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
