# dh --with morph: the build runs under Morph's hooks, and dh_morph(1) makes a
# package of the artifacts of each package with programs.
use strict;
use warnings;
use Cwd qw(getcwd);
use Debian::Debhelper::Dh_Lib;

# Whatever a build step takes for its home, artifacts and log stay in this tree,
# from which dh_clean removes them.
sub hook_build {
	my $folder = getcwd() . '/debian/.debhelper/morph';

	$ENV{MORPH_ARTIFACTS} = "$folder/artifacts";
	$ENV{MORPH_HOOKS_LOG} = "$folder/hooks.log";
	open(my $fd, '-|', 'sh', '-c', 'env=$(morphctl hooks env) && eval "$env" && env -0')
		or error("sh: $!");
	local $/ = "\0";
	while (my $line = <$fd>) {
		chomp($line);
		my ($name, $value) = split(/=/, $line, 2);
		$ENV{$name} = $value unless $name =~ /^(_|PWD|OLDPWD|SHLVL)$/;
	}
	close($fd) or error('morphctl hooks env failed: programs would get no artifact');
}

hook_build() unless get_buildoption('nomorph');
insert_before('dh_builddeb', 'dh_morph');

1;
