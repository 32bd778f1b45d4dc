package policy

import (
	"path"
	"strings"
	"testing"
)

// linksOf is a disk with a few links, by their paths. Where a link leads to itself, it is a directory.
type linksOf map[string]string

func (l linksOf) Resolve(path string) string {
	for name, to := range l {
		if below, is := strings.CutPrefix(path, name); is && to != name && (below == "" || below[0] == '/') {
			return to + below
		}
	}
	return path
}

func (l linksOf) Entries(dir string) (entries []Entry, known bool) {
	for name, to := range l {
		if path.Dir(name) == dir {
			entries = append(entries, Entry{Name: path.Base(name), Link: to != name})
		}
	}
	return entries, !strings.HasSuffix(dir, "/many")
}

// TestLinks_JudgedByWhereTheyLead checks that a name counts as its link's target: a link of an archive or a clone
// writes outside of the project.
//
// FAULT: G19
func TestLinks_JudgedByWhereTheyLead(t *testing.T) {
	p := "/home/me/project"
	l := Line{Cwd: p, Home: "/home/me", Disk: linksOf{
		p + "/lnk": "/home/me", p + "/out": "/home/me/.ssh", p + "/rc": "/home/me/.bashrc", p + "/etc": "/etc", p + "/pw": "/etc/passwd", p + "/disk": "/dev/sda",
		p + "/in": p + "/src", p + "/t": "/tmp/x", p + "/git": p + "/.git",
	}}
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

// TestBuild_AsksAboutHomeBelowTmp checks that a home below /tmp is treated as a home, although /tmp is writable.
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

// TestWalk_FollowsLinkToItsStart checks that a directory that is entered through a link counts as the link's target,
// also if the same line creates the link.
//
// FAULT: G19
func TestWalk_FollowsLinkToItsStart(t *testing.T) {
	p := "/home/me/project"
	l := Line{Cwd: p, Home: "/home/me", Disk: linksOf{p + "/lnk": "/home/me", p + "/etc": "/etc", p + "/in": p + "/src"}}
	walks := `
		cd lnk && find . -type f -delete
		cd lnk; find . -type f -delete
		cd ./lnk/ && find -type f -delete
		cd lnk && find . -mtime +0 -delete
		cd lnk && find . -type f | xargs truncate -s 0
		cd lnk && find . -type f -exec sh -c 'rm "$0"' {} \;
		cd lnk && fd -x rm
		cd lnk && rg --files | xargs rm
		cd lnk && rm -rf *
		cd lnk && truncate -s0 *
		cd lnk && git clean -fdx
		(cd lnk; chmod -R 000 .)
		pushd lnk && find . -delete
		git -C lnk clean -fdx
		git -C lnk checkout .
		find -L lnk -type f -delete
		find -H lnk -type f -delete
		find lnk -follow -type f -delete
		find lnk/ -type f -delete
		find lnk/. -type f -delete
		find -L lnk -type f -exec truncate -s0 {} +
		find -L lnk -type f | xargs rm
		rg --files lnk | xargs rm
		grep -rl '' lnk | xargs rm
		chmod 000 lnk
		env -C lnk find . -delete
	`
	checkKind(t, "hard", l, walks+`
		tar xf a.tar -C etc
		cd etc && tar xf a.tar
		chmod 777 etc
	`, `
		find lnk -delete
		rm lnk
		cd in && find . -type f -delete
		cd in && rg --files | xargs rm
		cd in && git clean -fdx
		git -C in clean -fdx
		find -L in -type f -delete
		cd lnk && ls
		cd lnk && find . -name '*.pyc' -delete
	`)
	made := ""
	for line := range strings.Lines(walks) {
		if line = strings.TrimSpace(line); line != "" {
			made += "ln -s ~ lnk; " + line + "\n"
		}
	}
	l.Disk = nil
	checkKind(t, "hard", l, made, `
		ln -s ~ lnk; rm lnk
		ln -s src lnk; cd lnk && find . -type f -delete
		ln -s src lnk; git -C lnk clean -fdx
	`)
}

// TestGlob_FollowsLinksThatItFinds checks that a glob follows the links among the names that it finds.
//
// FAULT: G19
func TestGlob_FollowsLinksThatItFinds(t *testing.T) {
	p := "/home/me/project"
	l := Line{Cwd: p, Home: "/home/me", Disk: linksOf{
		p + "/out": "/home/me/.ssh", p + "/pw": "/etc/passwd", p + "/in": p + "/src", p + "/src": p + "/src", p + "/sub": p + "/sub", p + "/sub/deep": "/home/me/.ssh",
	}}
	checkKind(t, "build", l, `
		touch */k
		touch ou?/k
		touch o[a-z]t/k
		touch sub/*/k
		touch */*/k
		touch s*/deep/k
		touch $PWD/*/k
		cp a ou?
		cp a o*/
		cp a ./o*
		cp a -t o*
		tee o*/k < a
		echo x | tee */authorized_keys
		echo x > o*/k
		tar xf a -C o*
		tar xf a -Co*
		for d in */; do make -C $d; done
		for d in *; do cp a $d; done
		sed -i s/x/y/ p*
		chmod +x o*/x
		mkdir -p o*/a
		touch many/*/k
		gofmt -w o*/
	`, `
		touch s*/k
		touch src/*/k
		touch i*/k
		cp a s*/
		cp a* src/
		ls */
		cat o*/x
		gofmt -l s*
		for d in s*/; do make -C $d; done
		sed -i s/x/y/ s*/x
		touch missing/*/k
		sed -i s/x/y/ *.go
	`)
	l.Disk = linksOf{p + "/lnk": "/home/me", p + "/pw": "/etc/passwd", p + "/src": p + "/src"}
	checkKind(t, "hard", l, `
		rm -rf */*
		rm -rf l*/
		rm -rf l*/*
		echo x > p*
		tee p? < a
		sed -i d p*
	`, `
		rm -rf s*/*
		rm -rf l*
		echo x > s*/y
		cat p*
	`)
}

// TestDotDot_LeadsAboveALinksTarget checks that "..", after a link, leads above the link's target for programs, and may
// do so for the shell's cd.
//
// FAULT: G19
func TestDotDot_LeadsAboveALinksTarget(t *testing.T) {
	p := "/home/me/project"
	l := Line{Cwd: p, Home: "/home/me", Disk: linksOf{p + "/lnk": "/home/me/other/deep", p + "/in": p + "/src/deep", p + "/src/deep/up": p}}
	checkKind(t, "build", l, `
		touch lnk/../x
		echo a > lnk/../x
		cp a lnk/../x
		cd lnk; touch ../x
		cd lnk; cd ..; touch x
		cd -P lnk; cd ..; touch x
		cd lnk/..; touch x
		touch src/../lnk/../x
		ln -s /home/me/other/deep new && touch new/../x
		touch in/../../../x
	`, `
		touch x
		touch in/../x
		touch src/../x
		cd src; touch ../x
		cd src; cd ..; touch x
		cd in; touch ../x
		touch src/deep/up/x
		echo a > ./src/./../x
	`)
	checkKind(t, "hard", Line{Cwd: p, Home: "/home/me", Disk: linksOf{p + "/lnk": "/home/me/other"}}, "rm -rf lnk/..\ncd lnk; rm -rf ../", "rm -rf src/../x\nrm -rf x")
}
