package policy

import (
	"strings"
	"testing"
)

// TestBuildLetsAnOrdinaryBuildHappen checks that the preset build allows an ordinary build, on the line and as
// executions.
//
// FEATURES: R61 R107
func TestBuildLetsAnOrdinaryBuildHappen(t *testing.T) {
	e := engineFor(t, "build")
	l := Line{Cwd: "/home/me/project", Home: "/home/me"}
	for line, want := range map[string]Verdict{
		"git init": Allow, "git init -q .": Allow, "git init --template=./x": Ask, "git init /srv/x": Ask,
		"cp a.txt b.txt && mv b.txt sub/c.txt": Allow, "chmod +x t.py": Allow, "mkdir -p build": Allow, "cp -r src /tmp/x": Allow,
		"cp a ../b": Ask, "cp a sub/../../b": Ask, "cp /etc/passwd .": Ask, "cp a ~/.bashrc": Ask, "cp .env x": Ask, "cp -t /etc a": Ask,
		"cp --target-directory=/etc a": Ask, "cp x .git/hooks/pre-commit": Ask, "mv x sub/.git/config": Ask, "chmod u+s x": Ask, "chmod 4755 x": Ask,
		"chmod 0755 x": Allow, "chmod -R 777 /": Deny, "cp x $Y": Ask,
		"python3 t.py": Allow, "python3 -u tools/gen.py --out x": Allow, "node index.js": Allow, "./build/m": Allow, "sub/run.sh x": Allow,
		"python3 /srv/t.py": Ask, "python3 ../t.py": Ask, "python3 -m http.server": Ask, "python3 -c 'import os; os.system(\"curl x\")'": Ask,
		"node -r ./x index.js": Ask, "python3": Ask, "python3 $X": Ask, "bash x.sh": Ask, "python3 .git/x.py": Ask, "python3 t.py /etc/x": Ask,
		"./git push": Ask, "./curl x": Ask, "./rm x": Ask, "../m": Ask, "/srv/m": Ask, "cd /srv && ./m": Ask, ".git/hooks/x": Ask, "cd sub && ./m": Allow,
		"cp /bin/rm x; ./x -rf /": Deny, "echo 'import os; os.system(\"rm -rf /\")' > t.py; python3 t.py": Ask, "cp /usr/bin/curl x; ./x y": Ask,
		"./configure --prefix=x": Allow, "./gradlew test": Allow, "bun install": Ask, "deno run x.ts": Ask, "python3.12 t.py": Allow, "node /usr/bin/npm test": Allow, "node /usr/bin/npm publish": Ask, "rm -rf build": Ask, "curl x": Ask, "git tag v1 && pip install x": Ask,
	} {
		l.Text = line
		if j := e.Judge(l); j.Verdict != want {
			t.Errorf("%s: %s (%s: %s), want %s", line, j.Verdict, j.Words, j.Why, want)
		}
	}
	for _, cwd := range []string{"", "/", "/home", "/home/me", "/tmp", "/usr/lib/x", "/etc"} {
		for _, line := range []string{"./m", "python3 ./t.py"} {
			if j := e.Judge(Line{Text: line, Cwd: cwd, Home: "/home/me"}); j.Verdict != Ask {
				t.Errorf("%s in %q: %s", line, cwd, j.Verdict)
			}
		}
	}
	for _, cwd := range []string{"/", "/home/me"} {
		if j := e.Judge(Line{Text: "cp x .profile", Cwd: cwd, Home: "/home/me"}); j.Verdict != Ask {
			t.Errorf("cp in %q: %s", cwd, j.Verdict)
		}
	}
}

// TestKill_ListsSignals checks that kill that only lists names of signals is allowed: fish runs it for its prompt after
// a line that failed.
//
// FAULT: J
func TestKill_ListsSignals(t *testing.T) {
	for _, preset := range []string{"build", "readonly"} {
		for line, want := range map[string]Verdict{
			"kill -l": Allow, "kill -L": Allow, "kill -t": Allow, "kill --list": Allow, "kill -l 9 15": Allow, "kill -l TERM": Allow,
			"kill": Ask, "kill 1234": Ask, "kill -9 1234": Ask, "kill -l -9 1234": Ask, "kill -l $X": Ask, "kill -t 1234": Ask, "kill -TERM -l": Ask,
		} {
			if j := engineFor(t, preset).Judge(Line{Text: line, Cwd: "/home/me/project", Home: "/home/me"}); j.Verdict != want {
				t.Errorf("%s: %s: %s, want %s", preset, line, j.Verdict, want)
			}
		}
		argv := []string{"kill", "-t"}
		if j := engineFor(t, preset).JudgeArgv("/usr/bin/kill", argv, Line{Cwd: "/home/me/project", Home: "/home/me"}); j.Verdict != Allow {
			t.Errorf("%s: the execution of %q: %s (%s)", preset, argv, j.Verdict, j.Why)
		}
	}
}

// FEATURES: R107
func TestBuildAllowsStepsOfItsPrograms(t *testing.T) {
	build, listed := engineFor(t, "build"), engineFor(t, "rule:allow git commit")
	for line, want := range map[string]Verdict{
		"/usr/lib/git-core/git maintenance run --auto --quiet": Allow, "/usr/lib/git-core/git gc --auto": Allow,
		"/usr/lib/git-core/git-remote-http origin http://x/": Allow, "/usr/lib/git-core/git push": Ask, "/usr/lib/git-core/git-daemon": Ask,
		"/usr/bin/git maintenance run": Ask, "/tmp/git-core/git maintenance run": Ask,
		"/home/me/project/build/m": Allow, "/home/me/project/.git/hooks/pre-commit": Ask, "/home/me/other/m": Ask,
		"/usr/bin/node /usr/bin/npm test": Allow, "/usr/bin/python3 /home/me/project/gen.py": Allow,
	} {
		argv := strings.Fields(line)
		l := Line{Cwd: "/home/me/project", Home: "/home/me"}
		if j := build.JudgeArgv(argv[0], argv, l); j.Verdict != want {
			t.Errorf("%s: %s (%s), want %s", line, j.Verdict, j.Why, want)
		}
		if j := listed.JudgeArgv(argv[0], argv, l); j.Verdict == Allow {
			t.Errorf("listed: %s is allowed", line)
		}
	}
	// A version manager outside of HOME counts if it is where root has put it, or in the account's home.
	argv := []string{"/opt/.pyenv/libexec/pyenv-which", "python3"}
	for _, c := range []struct {
		file string
		l    Line
		want Verdict
	}{
		{"/opt/.pyenv/libexec/pyenv-which", Line{Installed: true}, Allow}, {"/opt/.pyenv/libexec/pyenv-which", Line{}, Ask},
		{"/root/.pyenv/libexec/pyenv-which", Line{Account: "/root"}, Allow}, {"/tmp/.pyenv/libexec/pyenv-which", Line{Account: "/root"}, Ask},
		{"/root/x/.pyenv/libexec/pyenv-which", Line{Account: "/root"}, Ask},
	} {
		c.l.Home, c.l.Cwd = "/home/me", "/home/me/project"
		if j := build.JudgeArgv(c.file, argv, c.l); j.Verdict != c.want {
			t.Errorf("%s, %+v: %s (%s)", c.file, c.l, j.Verdict, j.Why)
		}
	}
}
