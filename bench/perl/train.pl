# Training workload: primes, word scores, text by patterns; argument = rounds.
use strict;
use warnings;
my $rounds = shift // 1;
my $seed = 12345;
sub rnd { $seed = ($seed * 1103515245 + 12345) % 2147483648; return int($seed / 256) % $_[0] }

sub primes {
	my ($n) = @_;
	my @sieve = (1) x ($n + 1);
	my @found;
	for my $i (2 .. $n) {
		next unless $sieve[$i];
		push @found, $i;
		for (my $k = $i * $i; $k <= $n; $k += $i) { $sieve[$k] = 0 }
	}
	return @found;
}

sub words {
	my ($n) = @_;
	return map { join '', map { chr(97 + rnd(26)) } 1 .. 2 + rnd(7) } 1 .. $n;
}

my %value = map { chr(97 + $_) => 1 + ($_ * 7) % 10 } 0 .. 25;

sub score {
	my ($word) = @_;
	my $sum = 0;
	$sum += $value{$_} for split //, $word;
	$sum *= 2 if $word =~ /^[aeiou].*[^aeiou]$/;
	return $sum;
}

sub frequencies {
	my ($text) = @_;
	my %count;
	$count{lc $1}++ while $text =~ /(\w+)/g;
	my @best = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
	return map { "$_=$count{$_}" } @best[0 .. 4];
}

for my $round (1 .. $rounds) {
	my @p = primes(9000);
	print scalar(@p), " $p[-1]\n";
	my @w = words(1500);
	my ($best) = sort { score($b) <=> score($a) || $a cmp $b } @w[0 .. 200];
	print "$best ", score($best), "\n";
	my $text = join ' ', map { rnd(5) ? $_ : "\u$_," } @w;
	print join(' ', frequencies($text)), "\n";
	(my $turned = $text) =~ s/(\w+), (\w+)/$2 and $1/g;
	$turned =~ tr/a-m/n-z/;
	print length($turned), ' ', ($turned =~ tr/z//), "\n";
	my @line = map { sprintf '%-8s|%5d|%8.3f', $_, length, length() / 3 } @w[0 .. 300];
	my $total = 0;
	for (@line) {
		my (undef, $n, $f) = split /\|/;
		$total += $n * $f;
	}
	printf "%.2f\n", $total;
}
