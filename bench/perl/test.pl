# Test workload, other work than in train.pl: anagrams, objects, parsing, matrices; argument = rounds.
package Account;
use strict;
use warnings;

sub new {
	my ($class, %of) = @_;
	return bless {balance => 0, log => [], %of}, $class;
}

sub book {
	my ($self, $what, $amount) = @_;
	die "overdrawn\n" if $self->{balance} + $amount < 0;
	$self->{balance} += $amount;
	push @{$self->{log}}, [$what, $amount];
	return $self;
}

package main;

my $rounds = shift // 1;
my $state = 99;
sub rnd { $state = ($state * 69069 + 1) % 4294967296; return ($state >> 8) % $_[0] }

sub jumble {
	my %by;
	for my $i (1 .. 900) {
		my $word = join '', map { substr 'aeinorst', rnd(8), 1 } 1 .. 4;
		my $key = join '', sort split //, $word;
		$by{$key}{$word}++;
	}
	my ($most) = sort { keys %{$by{$b}} <=> keys %{$by{$a}} || $a cmp $b } keys %by;
	return join ',', $most, sort keys %{$by{$most}};
}

sub accounts {
	my %account = map { $_ => Account->new(owner => $_) } qw(ann bob cy dee);
	my $refused = 0;
	for my $i (1 .. 1500) {
		my $who = (sort keys %account)[rnd(4)];
		eval { $account{$who}->book("no. $i", rnd(200) - 90); 1 } or $refused++;
	}
	return join ' ', $refused, map { "$_:$account{$_}{balance}/" . @{$account{$_}{log}} } sort keys %account;
}

sub evaluate {
	my ($text) = @_;
	my @token = $text =~ /\d+|[-+*()]/g;
	my ($sum, $product, $atom);
	$atom = sub {
		my $t = shift @token;
		return $t unless $t eq '(';
		my $v = $sum->();
		shift @token;
		return $v;
	};
	$product = sub {
		my $v = $atom->();
		while (@token && $token[0] eq '*') { shift @token; $v = $v * $atom->() % 1000003 }
		return $v;
	};
	$sum = sub {
		my $v = $product->();
		while (@token && $token[0] =~ /^[-+]$/) {
			$v = shift @token eq '+' ? $v + $product->() : $v - $product->();
		}
		return $v;
	};
	return $sum->();
}

sub expression {
	my ($depth) = @_;
	return 1 + rnd(99) unless $depth;
	my $op = ('+', '-', '*')[rnd(3)];
	return '(' . expression($depth - 1) . " $op " . expression($depth - 1) . ')';
}

sub multiply {
	my ($a, $b) = @_;
	my @c;
	for my $i (0 .. $#$a) {
		for my $j (0 .. $#$b) {
			my $s = 0;
			$s += $a->[$i][$_] * $b->[$_][$j] for 0 .. $#$b;
			$c[$i][$j] = $s % 997;
		}
	}
	return \@c;
}

sub records {
	my $text = join '', map { sprintf "%s: id=%d; name=\"%s\"; flags=0x%x\n", rnd(3) ? 'item' : 'note', $_,
		'x' x rnd(9), rnd(256) } 1 .. 400;
	my (%seen, $bits);
	for my $line (split /\n/, $text) {
		my ($kind, $rest) = $line =~ /^(\w+):\s+(.*)$/ or next;
		my %field = map { /^\s*(\w+)="?([^"]*)"?$/ ? ($1 => $2) : () } split /;/, $rest;
		$seen{$kind}{length $field{name}} .= chr(65 + $field{id} % 26);
		$bits += unpack '%32b*', pack 'C', hex $field{flags};
	}
	return join ' ', $bits, map { my $k = $_; map { "$k$_" . reverse substr $seen{$k}{$_}, 0, 5 } sort keys %{$seen{$k}} }
		sort keys %seen;
}

for my $round (1 .. $rounds) {
	print jumble(), "\n", accounts(), "\n", evaluate(expression(8)), "\n", records(), "\n";
	my $m = [map { my $i = $_; [map { $i * $_ % 17 } 1 .. 16] } 1 .. 16];
	$m = multiply($m, $m) for 1 .. 4;
	print join(' ', @{$m->[3]}), "\n";
}
