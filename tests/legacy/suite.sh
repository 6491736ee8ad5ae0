# What suites share; a recipe sources it.

say() { # COMMAND…: what it prints, and its status
	s=0
	"$@" 2>&1 || s=$?
	echo "= $s"
}

apart() { # COMMAND…: what it prints, in short, and what its processes, more than one, say beside it
	s=0
	"$@" 2>apart.said >apart.out || s=$?
	grep -v CreationDate apart.out | md5sum
	sort apart.said
	echo "= $s"
}

pages() { # SECTION PACKAGE…: manual pages of packages that are installed
	section=$1
	shift
	dpkg -L "$@" | grep "/man$section/.*gz$" | sort
}

sums() { # FILE…: their content, in short
	md5sum "$@" | sed 's/^\\//'
}

text() { # a text of many kinds of lines
	cat /usr/share/common-licenses/* /etc/services /usr/share/perl/5.*/perl5db.pl /usr/include/stdlib.h
}

gnu() { # FOLDER TEST…: scripts as gnulib's projects have them, from the source's folder; which of them pass
	folder=$1
	shift
	for gnu in "$@"; do
		[ -f "$folder/$gnu" ] || continue
		s=0
		case $gnu in
		*.pl) perl -w -I"$folder" -MCuSkip -MCoreutils -M"CuTmpdir qw($gnu)" "$folder/$gnu" ;;
		*) sh "$folder/$gnu" ;;
		esac >gnu.log 2>&1 9>&2 || s=$?
		echo "$gnu: $s"
	done
}

python_tests() { # PYTHON NAME…: of its own suite
	python=$1
	shift
	for t; do
		say timeout 900 "$python" -m test -q "$t" | grep -v 'duration\|random seed\|load avg\|passed in\|Warning\|^== Tests'
	done
}
