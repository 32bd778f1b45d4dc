package policy

import (
	"strings"
	"testing"
)

// linksOf returns a resolver for a few links, as a caller has one.
func linksOf(links map[string]string) func(string) string {
	return func(path string) string {
		for name, to := range links {
			if below, is := strings.CutPrefix(path, name); is && (below == "" || below[0] == '/') {
				return to + below
			}
		}
		return path
	}
}

// A name counts as where it leads: a link that an archive or a clone has brought writes outside of the project.
//
// FAULT: G19
func TestLinks_JudgedByWhereTheyLead(t *testing.T) {
	p := "/home/me/project"
	l := Line{Cwd: p, Home: "/home/me", Real: linksOf(map[string]string{
		p + "/lnk": "/home/me", p + "/out": "/home/me/.ssh", p + "/rc": "/home/me/.bashrc", p + "/etc": "/etc", p + "/pw": "/etc/passwd", p + "/disk": "/dev/sda",
		p + "/in": p + "/src", p + "/t": "/tmp/x", p + "/git": p + "/.git",
	})}
	checkKind(t, "build", l, `
		echo hi > out/x
		echo hi >> rc
		echo hi | tee out/x
		cat a > lnk/x
		cp a lnk/
		cp a lnk
		cp a rc
		cp -r src out/
		cp a -t lnk
		cp a --target-directory=lnk
		mv a lnk/
		mv a out
		ln a out/x
		ln -s x lnk/y
		touch rc
		touch lnk/x
		mkdir lnk/x
		mkdir -p out/a/b
		chmod +x out/x
		tar -xf a.tar -C lnk
		tar -xf a.tar -Clnk
		tar -xf a.tar --directory=out
		tar -cf lnk/a.tar src
		tar -cf rc src
		unzip a.zip -d lnk
		unzip -d out a.zip
		gzip lnk/x
		sed -i s/a/b/ rc
		sed -i s/a/b/ lnk/x
		patch -d lnk -i x
		make -C lnk
		make -Clnk
		make --directory=lnk
		make -f rc
		cd lnk && make
		cd out && touch x
		cd lnk; go build ./...
		go build -o lnk/x .
		go build -o rc .
		go test ./lnk/...
		npm --prefix lnk test
		cmake -B lnk -S .
		cmake --build lnk
		ninja -C lnk
		cargo build --target-dir lnk
		gcc -o rc x.c
		gcc x.c -o lnk/x
		git clone x lnk/y
		echo x > git/hooks/pre-commit
		cp a git/hooks/x
		python3 lnk/x.py
		for f in a b; do cp $f lnk/; done
		cp a lnk/*
	`, `
		echo hi > in/x
		echo hi > t/x
		cp a in/
		cp a t/
		mv a in/b
		tar -xf a.tar -C in
		tar -xf a.tar
		make -C in
		cd in && make
		cd src && touch x
		go build -o in/x .
		touch x
		mkdir -p a/b
		sed -i s/a/b/ in/x
		ls lnk
		cat src/x
		go test ./...
		git status
		gcc -o x x.c
	`)
	checkKind(t, "hard", l, `
		rm -rf lnk/
		rm -rf lnk/*
		rm -rf etc/*
		rm -rf etc/
		cp a pw
		echo x > pw
		tee pw < x
		sed -i d pw
		dd if=x of=disk
		cat x > disk
		find lnk/ -delete
		chmod -R 000 etc/
		truncate -s0 lnk/*
	`, `
		rm lnk
		rm -rf lnk
		rm -rf in/
		rm -rf in/*
		echo x > in/y
		cp a in/
		mv lnk other
		cat pw
	`)
	e, err := New(Options{Preset: ReadOnly, Rules: []Rule{{Program: "touch", Decision: Allow, Roots: []string{p}}}})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Verdict{"touch x": Allow, "cd in && touch x": Allow, "cd lnk && touch x": Ask} {
		if l.Text = line; e.Judge(l).Verdict != want {
			t.Errorf("%s with a rule for the project: want %s", line, want)
		}
	}
}

// A home below /tmp is a home, whatever else may be written there.
//
// FAULT: J
func TestBuild_AsksAboutHomeBelowTmp(t *testing.T) {
	checkKind(t, "build", Line{Cwd: "/tmp/h/src/p", Home: "/tmp/h"}, `
		echo x >> ~/.bashrc
		echo x > /tmp/h/.ssh/config
		cp a ~/.profile
		touch ~/x
		mkdir -p ~/.config/x
		tar -xf a.tar -C ~
		mv a ~/
	`, `
		echo x > out/x
		echo x > /tmp/x
		cp a /tmp/other/
		touch ~/src/p/x
	`)
}
