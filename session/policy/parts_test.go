package policy

import (
	"strings"
	"testing"
)

// FEATURES: R61
func TestPartsOfCompilersAreBuilding(t *testing.T) {
	build, readonly := engineFor(t, "build"), engineFor(t, "readonly")
	l := Line{Cwd: "/home/me/project", Home: "/home/me"}
	for _, line := range []string{
		"/usr/libexec/gcc/x86_64-linux-gnu/12/cc1 -quiet x.c -o /tmp/ccx.s", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus -o /tmp/a.s",
		"/usr/bin/x86_64-linux-gnu-as -o x.o /tmp/ccx.s", "/usr/bin/x86_64-linux-gnu-ld.bfd -o a.out /usr/lib/crt1.o x.o",
		"/usr/lib/gcc/x86_64-linux-gnu/12/collect2 -o build/a.out /usr/lib/x86_64-linux-gnu/Scrt1.o", "/usr/bin/x86_64-linux-gnu-gcc-12 -c /usr/x.c",
		"/usr/lib/llvm-14/bin/clang -cc1 -o x.o", "/usr/local/go/pkg/tool/linux_amd64/compile -o /tmp/go-build1/b001/_pkg_.a -p main",
		"/home/me/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.0.linux-amd64/pkg/tool/linux_amd64/link -o /home/me/.cache/go-build/ab/x",
		"/tmp/go-build123/b001/x.test -test.timeout=10m", "/home/me/.rustup/toolchains/stable/bin/rustc --crate-name x",
		"/home/me/project/target/debug/build/x-1/build-script-build", "/home/me/.pyenv/shims/pytest -q", "/home/me/.pyenv/libexec/pyenv-exec pytest",
	} {
		argv := strings.Fields(line)
		if j := build.JudgeArgv(argv[0], argv, l); j.Verdict != Allow {
			t.Errorf("%s: %s %s", line, j.Verdict, j.Why)
		}
		if j := readonly.JudgeArgv(argv[0], argv, l); j.Verdict == Allow {
			t.Errorf("readonly: %s is allowed", line)
		}
	}
	for _, line := range []string{
		"/tmp/cc1 x.c", "/home/me/project/as -o x.o", "/usr/bin/as -o /home/me/.bashrc x.s", "/usr/bin/ld -o/home/me/.profile x.o", "/usr/bin/python3 /srv/x.py",
		"/home/me/.pyenv/shims/curl x", "/home/other/.pyenv/shims/pytest", "/srv/go-build1/b001/x.test", "/home/me/x/target/debug/build/y",
		"/usr/lib/gcc/x86_64-linux-gnu/12/other", "/home/me/bin/rustc x.rs",
	} {
		argv := strings.Fields(line)
		if j := build.JudgeArgv(argv[0], argv, l); j.Verdict == Allow {
			t.Errorf("%s is allowed", line)
		}
	}
}

// TestLinesForOtherPrograms checks lines for programs other than shells by what these programs read.
//
// FEATURES: R61 R62
func TestLinesForOtherPrograms(t *testing.T) {
	for _, c := range []struct {
		preset, program, line string
		want                  Verdict
	}{
		{"hard", "python3", "import os; print(os.getcwd())", Allow},
		{"hard", "python3", "for i in range(3): print(f'{i}')", Allow},
		{"hard", "python3", "os.system('rm -rf /')", Ask},
		{"hard", "python3.12", "shutil.rmtree('/')", Ask},
		{"hard", "psql", "select * from t where a = 'x' and b > (1);", Allow},
		{"hard", "psql", `\! rm -rf /`, Deny},
		{"hard", "sqlite3", ".shell rm -rf /", Deny},
		{"hard", "node", "fs.readdirSync('.').map(x => x)", Allow},
		{"hard", "node", "require('child_process').execSync('rm -rf /')", Ask},
		{"hard", "/opt/thing", "do (something", Allow},
		{"hard", "/opt/thing", "rm -rf /", Ask},
		{"hard", "ssh", "rm -rf /", Deny}, {"hard", "docker", "rm -rf /", Deny}, {"hard", "-dash", "rm -rf /", Deny},
		{"off", "python3", "os.system('rm -rf /')", Allow},
		{"build", "python3", "print(1)", Ask}, {"readonly", "psql", "select 1", Ask}, {"readonly", "/opt/thing", "help", Ask},
		{"rule:deny curl", "python3", "os.system('curl x')", Ask}, {"rule:deny curl", "/opt/thing", "curl x", Ask},
	} {
		j := engineFor(t, c.preset).Judge(Line{Text: c.line, Shell: c.program, Cwd: "/home/me/x", Home: "/home/me"})
		if j.Verdict != c.want {
			t.Errorf("%s, %s: %q: %s (%s), want %s", c.preset, c.program, c.line, j.Verdict, j.Why, c.want)
		}
	}
}

// TestAProgramHasOneDenial checks that each program has one row in the denials, because with two their order would
// decide.
func TestAProgramHasOneDenial(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range denials {
		for name := range strings.FieldsSeq(row.programs) {
			if seen[name] {
				t.Errorf("%s is in two rows", name)
			}
			seen[name] = true
		}
	}
}
