package policy

import (
	"strings"
	"testing"
)

// checkKind judges two lists of lines, one line each: none of the first may be allowed, each of the second has to be.
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

// A walk that begins at a home or / and ends in a command that writes, removes or runs code asks, unless literal names narrow it.
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
