package policy

import (
	"strings"
	"testing"
)

// checkKind checks two lists of lines, one per line: none of stopped may be allowed, and each of allowed must be.
func checkKind(t *testing.T, preset string, l Line, stopped, allowed string) {
	t.Helper()
	e := engineFor(t, preset)
	for line := range strings.Lines(stopped) {
		if l.Text = strings.TrimSpace(line); l.Text == "" {
			continue
		}
		if j := e.Judge(l); j.Verdict == Allow {
			t.Errorf("%s: allowed: %s", preset, l.Text)
		}
	}
	for line := range strings.Lines(allowed) {
		if l.Text = strings.TrimSpace(line); l.Text == "" {
			continue
		}
		if j := e.Judge(l); j.Verdict != Allow {
			t.Errorf("%s: %s (%s: %s): %s", preset, j.Verdict, j.Rule, j.Why, l.Text)
		}
	}
}

// TestWalkOverHome_Asks_WhenItEndsInWriter checks that a walk from a home or / to a command that writes, removes or
// runs code needs approval, unless literal names narrow it.
//
// FAULT: G4
func TestWalkOverHome_Asks_WhenItEndsInWriter(t *testing.T) {
	checkKind(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, `
		find ~ -perm -000 -delete
		find ~ -links -99 -delete
		find ~ -name '[!x]*' -delete
		find ~ -name '[^x]*' -delete
		find ~ -name '*[a-z]*' -delete
		find ~ -name '?*' -delete
		find ~ ! -name x -delete
		find ~ -not -path '*/x/*' -delete
		find ~ -mtime +0 -delete
		find ~ -size -1000G -delete
		find ~ -user me -delete
		find ~ -newer x -delete
		find ~ -inum +1 -delete
		find ~ -path "$HOME/*" -delete
		find ~ -path '/home/*' -delete
		find ~ -regex '.*/[^/]+' -delete
		find ~ -name "$X" -delete
		find ~ -name "*.$X" -delete
		find /home -mtime +1 -delete
		find / -perm -4 -exec rm {} +
		find ~ -type f | xargs truncate -s 0
		find ~ -type f -print0 | xargs -0 truncate -s 0
		find ~ -exec sed -i d {} +
		find ~ -execdir sed -i d {} +
		find ~ -type f | tar --remove-files -cf x.tar -T -
		find ~ -type f > list; tar --remove-files -cf x.tar -T list
		find ~ | awk '{system("rm " $0)}'
		find ~ | awk '{print "" > $0}'
		find ~ | perl -lne unlink
		find ~ -type f -print0 | perl -0 -ne 'unlink'
		find ~ -type f -exec perl -i -pe s/a/b/ {} +
		find ~ | ruby -ne 'File.delete($_.chomp)'
		find ~ | python3 -c 'import os, sys; [os.remove(f.strip()) for f in sys.stdin]'
		find ~ | sh
		find ~ -exec python3 clean.py {} \;
		find ~ -type f -exec ./x {} \;
		find ~ | while read -r f; do truncate -s 0 "$f"; done
		find ~ -type f | while IFS= read -r f; do : > "$f"; done
		for f in $(find ~ -type f); do truncate -s 0 $f; done
		mapfile -t a < <(find ~ -type f); truncate -s0 "${a[@]}"
		find "$HOME" -type f -exec sh -c '> "$1"' _ {} \;
		find "$HOME" -type f -exec sh -c 'for f; do : > "$f"; done' _ {} +
		cd && find . -type f | xargs truncate -s0
		find ~ -type f | zip -m x -@
		find ~ -exec chmod 000 {} +
		find ~ -type f | parallel truncate -s0
		find ~ -type f | grep -v foo | sort | shuf | xargs truncate -s0
		find ~ -type f | rename 's/.*/x/'
		fd . ~ -X sed -i d
		grep -rl '' ~ | xargs rm
		rg --files ~ | xargs rm
		ls -R ~ | xargs shred
		truncate -s0 ~/*
		truncate -s0 ~/*/*
		tee ~/* < /dev/null
		cp /dev/null ~/*
		sed -i d ~/*
		gzip ~/*
		dos2unix ~/*
		for f in ~/*; do truncate -s 0 "$f"; done
		for f in ~/* ~/.[!.]*; do > "$f"; done
		install -d -m 000 ~
		install -d --mode=0 "$HOME"
		chmod 000 ~
		chmod u-rwx ~
		chmod -rwx ~
		chmod a= ~
	`, `
		find ~ -name '*.pyc' -delete
		find ~ -name node_modules -exec rm -rf {} +
		find ~ -name '*.log' -mtime +7 -delete
		find ~ -name '*.go' | xargs sed -i s/a/b/
		find ~ -name '*.txt' -exec sed -i s/a/b/ {} +
		find ~ -path '*/node_modules/*' -delete
		find ~ -path './x/*' -delete
		find ~ -type d -empty -delete
		find ~ -inum 12345 -delete
		find . -type f -delete
		find . -perm -000 -delete
		find . -type f | xargs sed -i s/a/b/
		find ~/project -type f -exec sed -i s/a/b/ {} +
		find /tmp -type f -mtime +1 -delete
		find /var/log -name '*.gz' -mtime +30 -delete
		find ~ -type f | xargs cat
		find ~ -type f -exec md5sum {} + | sort > sums
		find ~ -type f | awk -F. '{print $NF}' | sort | uniq -c
		find ~ -type f | perl -ne 'print if /x/'
		find ~ -type f | tar czf b.tgz -T -
		find ~ -type f -exec cp {} /backup/ \;
		find ~ -type f | cpio -pdm /backup
		find ~ -type f | fzf
		find ~ -xdev -type f -size +100M -exec ls -lh {} +
		for f in $(find ~ -name '*.txt'); do rm "$f"; done
		fd -e log . ~ -x rm
		grep -rl foo ~ | xargs sed -i s/foo/bar/
		rg -l foo ~ | xargs sed -i s/a/b/
		cp ~/* /backup/
		tar czf x.tgz ~/*
		ls ~/*
		du -sh ~/*
		truncate -s0 ~/*.log
		rm -f ~/*.log
		sed -i s/a/b/ ~/src/*
		for f in ~/*; do echo "$f"; done
		for d in ~/*/; do git -C "$d" pull; done
		for f in ~/*.txt; do mv "$f" "$f.bak"; done
		install -d -m 755 ~
		install -d -m 700 ~/.ssh
		chmod 700 ~
		chmod go-rwx ~
		chmod u+rwx ~
		chmod -x script.sh
	`)
}

// TestArguments_Followed_WhicheverParameterNamesThem checks that all parameters of shell text with arguments are
// followed: $0, $1, $@, and those that many words fill.
//
// FAULT: G4
func TestArguments_Followed_WhicheverParameterNamesThem(t *testing.T) {
	l := Line{Cwd: "/home/me/project", Home: "/home/me"}
	checkKind(t, "hard", l, `
		find ~ -type f -exec sh -c ': > "$0"' {} \;
		find ~ -type f -exec sh -c 'rm "$0"' {} \;
		find ~ -type f -exec sh -c 'rm $0' {} \;
		find ~ -type f -exec sh -c 'rm "$@"' {} +
		find ~ -type f -exec sh -c 'rm "$*"' {} +
		find ~ -type f -exec sh -c 'rm "${@}"' {} +
		find ~ -type f -exec sh -c 'rm ${1+"$@"}' _ {} +
		find ~ -type f -exec sh -c 'rm "$2"' _ {} +
		find ~ -type f -exec sh -c 'rm "$1"' {} +
		find ~ -type f -exec sh -c 'rm "${@:2}"' _ {} +
		find ~ -type f -exec sh -c 'rm "${@:0}"' {} \;
		find ~ -type f -exec sh -c 'shift; rm "$@"' _ {} +
		find ~ -type f -exec sh -c 'for f; do : > "$f"; done' {} +
		find ~ -type f -exec sh -c 'for f in "$@"; do : > "$f"; done' {} +
		find ~ -type f -exec bash -c 'truncate -s0 "${0}"' {} \;
		find ~ -type f -exec bash -c 'rm "${1:-x}"' _ {} \;
		find ~ -type f -exec bash -c 'rm "${1%/}"' _ {} \;
		find ~ -type f -exec bash -c 'f=$0; rm "$f"' {} \;
		find ~ -type f -exec bash -c 'f() { rm "$1"; }; f "$0"' {} \;
		find ~ -type f -exec zsh -c 'rm $argv' _ {} +
		find ~ -type f -exec fish -c 'rm $argv' {} +
		find ~ -type f -exec env sh -c 'rm "$0"' {} \;
		sh -c 'rm -rf "$@"' ~ ~/x
		sh -c 'rm -rf "$0"' ~
		bash -c '$0 & $0' x
		sh -c '$0 "$@"' rm -rf ~
		bash -c 'rm -rf $0' /
		echo 'rm -rf "$1"' | sh -s ~
		echo 'rm -rf "$@"' | bash -s -- ~
		bash <(echo 'rm -rf "$1"') ~
		find ~ -type f | xargs -n1 sh -c 'echo > $0'
		find ~ -type f | xargs sh -c 'rm "$@"'
		find ~ -type f | xargs sh -c 'rm "$@"' _
		find ~ -type f | xargs -I{} sh -c 'rm "$0"' {}
		cat list | xargs sh -c 'rm -rf "$@"' _
		cat list | xargs sh -c 'rm -rf "$0"'
	`, `
		find ~ -type f -exec sh -c 'echo "$0"' {} \;
		find ~ -type f -exec sh -c 'wc -l "$@"' _ {} +
		find ~ -name '*.pyc' -exec sh -c 'rm "$0"' {} \;
		find . -type f -exec sh -c 'rm "$0"' {} \;
		find . -type f -exec sh -c 'mv "$0" "${0%.txt}.md"' {} \;
		find . -name '*.c' -exec sh -c 'for f; do gcc -c "$f"; done' _ {} +
		sh -c 'rm -rf "$1"' _ build
		sh -c 'rm -rf "$@"' _ build dist
		sh -c 'echo "$0" "$@"' a b c
		sh -c 'rm "$2"' _ a
		bash -c 'cd "$0" && make' build
		echo 'echo $1' | sh -s x
		git ls-files | xargs -n1 sh -c 'gofmt -l "$0"'
		ls | xargs -I{} sh -c 'echo "$0"' {}
	`)
}

// TestListOfWalk_IsTheWalk_WhereverItIsRead checks that a file that the line has filled with the names of a walk counts
// as that walk wherever it is read.
//
// FAULT: G4
func TestListOfWalk_IsTheWalk_WhereverItIsRead(t *testing.T) {
	l := Line{Cwd: "/home/me/project", Home: "/home/me"}
	checkKind(t, "hard", l, `
		find ~ -type f > l; xargs rm < l
		find ~ -type f > l; xargs -a l rm
		find ~ -type f > l && xargs --arg-file=l rm
		find ~ -type f -print0 > l; xargs -0 -a l rm
		find ~ -type f > l; xargs -a l -n1 truncate -s0
		find ~ -type f > l; xargs -a l -I{} rm {}
		xargs -a <(find ~ -type f) rm
		find ~ -type f > l; rm $(<l)
		find ~ -type f > l; rm $(< l)
		find ~ -type f > l; rm $(cat l)
		find ~ -type f > l; rm $(sort l)
		find ~ -type f > l; for f in $(<l); do rm "$f"; done
		find ~ -type f > l; mapfile -t a < l; rm "${a[@]}"
		find ~ -type f > l; while read f; do rm "$f"; done < l
		find ~ -type f > l; while read -r -u 3 f; do rm "$f"; done 3< l
		find ~ -type f > l; exec 3< l; xargs rm <&3
		find ~ -type f -fprint l; xargs rm < l
		find ~ -type f -fprint0 l; xargs -0 -a l rm
		find ~ -type f -fprintf l '%p\n'; xargs rm < l
		find ~ -type f > l; parallel -a l rm
		find ~ -type f > l; parallel rm :::: l
		find ~ -type f > l; parallel rm {} :::: l
		find ~ -type f > l; parallel rm < l
		rg --files ~ > l; xargs -a l rm
		fd . ~ > l; xargs -a l rm
		find ~ -type f | tee l; xargs -a l rm
		find ~ -type f | sort > l; xargs -a l rm
		find ~ -type f | sort -o l; xargs -a l rm
		find ~ -type f | sponge l; xargs -a l rm
		find ~ -type f > l; sort l > m; xargs -a m rm
		find ~ -type f > l; grep -v x l | xargs rm
		find ~ -type f > l; head -1000 l | xargs rm
		find ~ -type f > l; cp l m; xargs -a m rm
		find ~ -type f > l; ln -s l m; xargs -a m rm
		find ~ -type f >> l; xargs -a l rm
		find ~ -type f > l; perl -lne unlink l
		find ~ -type f > l; awk '{system("rm " $0)}' l
		find ~ -type f > l; rename s/a/b/ @l
	`, `
		find ~ -type f > l; wc -l l
		find ~ -type f > l; xargs -a l cat
		find ~ -type f > l; cat $(<l)
		find ~ -type f > l; sort l | uniq -c
		find ~ -type f > l; while read f; do echo "$f"; done < l
		find ~ -type f > l; rm l
		find ~ -type f > l; tar czf b.tgz -T l
		find ~ -name '*.pyc' > l; xargs -a l rm
		find . -type f > l; xargs -a l rm
		find . -type f > l; rm $(<l)
		xargs -a list rm
		xargs -a list gofmt -w
		parallel -a list gzip
		parallel gzip :::: list
		parallel gzip ::: a b
		rm $(<list)
		while read f; do rm "$f"; done < list
		sort -o a a
		find . -name '*.go' -fprint l
		find ~ -type f > l; python3 -c 'print(len(open("l").read()))' l
	`)
}

// TestWalkWithoutStart_Asks_WhenDirectoryIsHome checks that a walk without a start begins at the current directory,
// which may be a home.
//
// FAULT: G4
func TestWalkWithoutStart_Asks_WhenDirectoryIsHome(t *testing.T) {
	stopped, allowed := `
		rg --files | xargs rm
		rg --files -g '!*.o' | xargs rm
		rg -l '' | xargs rm
		rg -l . | xargs truncate -s0
		fd -x rm
		fd . -x rm
		fd -t f -x truncate -s0
		fd -t f -X rm
		fd | xargs rm
		fdfind . | xargs rm
		grep -rl x . | xargs rm
		grep -rl x | xargs rm
		grep -rl '' | xargs rm
		grep -rl -e . | xargs rm
		git ls-files -o | xargs rm
		git ls-files --others | xargs rm
		ls -R | xargs shred
		du -a | cut -f2 | xargs rm
		find . -type f | xargs rm
		find -type f | xargs rm
		rg --files > l; xargs -a l rm
		ag -l . | xargs rm
		ag -g '' | xargs rm
		ack -f | xargs rm
	`, `
		ag -l foo | xargs sed -i s/a/b/
		rg --files | xargs wc -l
		rg --files -g '*.pyc' | xargs rm
		rg -l foo | xargs sed -i s/a/b/
		grep -rl foo . | xargs sed -i s/a/b/
		fd -e pyc -x rm
		fd node_modules -x rm -rf
		git ls-files | xargs wc -l
		ls -R | less
		du -a | sort -n
	`
	checkKind(t, "hard", Line{Cwd: "/home/me", Home: "/home/me"}, stopped, allowed)
	l := Line{Cwd: "/home/me/project", Home: "/home/me"}
	checkKind(t, "hard", l, `
		cd ~; rg --files | xargs rm
		cd ~; fd -x rm
		cd && fd -x rm
		cd ~ && git ls-files -o | xargs rm
		fd --search-path ~ -x rm
		chmod -R -x ~
		chmod -x -R ~
		chmod -Rx ~
		chmod -R -- -x ~
		chmod -R a-x ~
		chmod -R -r /home/me
	`, stopped+allowed+`
		chmod -R -x .
		chmod -R -x src
		chmod -x ~/bin/x
		chmod -R u+x scripts
	`)
	checkKind(t, "build", l, ``, `
		rg --files | xargs gofmt -l
		git ls-files | xargs gofmt -l
		rg -l foo | xargs gofmt -l
		git ls-files -o --exclude-standard
	`)
}

// TestOtherShells_AskAboutWalks_InTheirOwnWords checks that the ways of other shells to name files, to run code and to
// pass on the names of a walk need approval too.
//
// FAULT: G4
func TestOtherShells_AskAboutWalks_InTheirOwnWords(t *testing.T) {
	l := Line{Cwd: "/home/me/project", Home: "/home/me", Shell: "zsh"}
	checkKind(t, "hard", l, `
		rm -rf =ls
		cp /dev/null =bash
		print > =ls
		mv =ls /tmp
		chmod 000 =sudo
		x==ls; rm $x
		echo *(e{'rm -rf ~'})
		echo *(e:'rm -rf ~':)
		echo *(.e|'rm -rf ~'|)
		echo *(e['rm -rf ~'])
		echo *(u:root:e{'rm -rf ~'})
		echo *(oe{'rm -rf ~'})
		echo {a,b}*(e:'rm -rf ~':)
		echo *(+cmd)
		echo *(.+cmd)
		functions[a]='rm $@'; a -rf ~
		functions[a]='rm "$1"'; a ~/*
		rm ${(0)"$(find ~ -print0)"}
		rm ${(f)"$(find ~ -type f)"}
		x=$(find ~); rm ${(f)x}
		print -rl -- ~/**/*(.) | while read f; do rm $f; done
		print -rl ~/* | while read f; do rm $f; done
		print -rl -- ~/**/*(.) | xargs rm
		print -rl -- ~/**/* > l; xargs -a l rm
		find ~ -type f | read f; rm $f
	`, `
		ls =ls
		file =go
		=ls -l
		[[ $a == b ]]
		[ a = b ]
		./configure --prefix=ls
		echo *(N)
		echo *(m+7)
		echo *(om[1,3])
		echo *(u0)
		echo *(.Lk+100)
		functions[a]='echo $@'; a b
		print -rl -- *.go | while read f; do gofmt -l $f; done
		print -rl -- **/*.pyc(.) | xargs rm
		rm ${(f)"$(git ls-files -d)"}
		print hello
	`)
	l.Shell = "fish"
	checkKind(t, "hard", l, `
		find ~ | read -z l; rm (string split \n $l)
		find ~ -type f | read -z l; rm $l
		set l (find ~); rm (string split ' ' $l)
		rm (find ~ | string match -v x)
	`, `
		string split , a,b
		rm (string split , a,b)
		git status | read -z l; echo $l
	`)
	l.Shell = "powershell"
	checkKind(t, "hard", l, `
		gci C:\ -Recurse | ri
		gci C:\ -Recurse | Remove-Item
		Get-ChildItem ~ -Recurse | Remove-Item
		gci $home -File | ri
		gci C:\ -r | % { ri $_ }
		Remove-Item ~/*
		Remove-Item $HOME\*
		Clear-Content ~/*
		clc ~\*
		gci ~ -Recurse | Clear-Content
		Set-Content ~/* ''
	`, `
		gci C:\ -Recurse
		gci C:\ -Recurse -Filter *.tmp | ri
		gci ~ -Recurse -Include *.pyc | Remove-Item
		gci ~ | ? Name -like '*.tmp' | ri
		gci | ri -WhatIf
		gci src -Recurse | Remove-Item
		Remove-Item ~/*.log
		Remove-Item x.txt
		Clear-Content x.txt
		Set-Content x.txt 'a'
	`)
}
