package diagnostics

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// formatDiagnostic formats a diagnostic on one line: matcher severity file:line:column code message.
func formatDiagnostic(d Diagnostic) string {
	s := fmt.Sprintf("%s %s %s:%d:%d [%s] %s", d.Matcher, d.Severity, d.File, d.Line, d.Column, d.Code, d.Message)
	for _, r := range d.Related {
		s += " + " + fmt.Sprintf("%s:%d:%d %s", r.File, r.Line, r.Column, r.Message)
	}
	return s
}

// FEATURES: R28
func TestDiagnostics(t *testing.T) {
	one := 1
	for _, c := range []struct {
		name, line, text string
		want             []string
	}{
		{"gcc", "gcc -Wall -c a.c", `a.c: In function ‘main’:
a.c:6:24: warning: passing argument 1 of ‘twice’ makes integer from pointer without a cast [-Wint-conversion]
    6 |   printf("%d\n", twice("a"));
      |                        ^~~
a.c:2:15: note: expected ‘int’ but argument is of type ‘char *’
    2 | int twice(int x);
a.c:7:10: error: ‘undeclared’ undeclared (first use in this function)
a.c:1:10: fatal error: nosuch.h: No such file or directory
compilation terminated.`, []string{
			"gcc warning a.c:6:24 [-Wint-conversion] passing argument 1 of ‘twice’ makes integer from pointer without a cast + a.c:2:15 expected ‘int’ but argument is of type ‘char *’",
			"gcc error a.c:7:10 [] ‘undeclared’ undeclared (first use in this function)",
			"gcc error a.c:1:10 [] nosuch.h: No such file or directory",
		}},
		{"clang, with a drive", "clang a.c", "C:/src/a.c:3:5: error: use of undeclared identifier 'x'\n", []string{"gcc error C:/src/a.c:3:5 [] use of undeclared identifier 'x'"}},
		{"ld", "gcc b.c", "/usr/bin/ld: /tmp/cc53w6RQ.o: in function `main':\nb.c:(.text+0x5): undefined reference to `missing'\ncollect2: error: ld returned 1 exit status\n", []string{
			"ld error b.c:0:0 [] undefined reference to `missing'",
			"ld-other error :0:0 [] ld returned 1 exit status",
		}},
		{"ld, with lines", "make", "/usr/bin/ld: b.o:b.c:12: undefined reference to `f'\n/usr/bin/ld: cannot find -lnosuch: No such file or directory\n", []string{
			"ld error b.c:12:0 [] undefined reference to `f'",
			"ld-other error :0:0 [] cannot find -lnosuch: No such file or directory",
		}},
		{"go build", "go build ./...", "# example.org/x/q\nq/q.go:2:8: \"os\" imported and not used\nq/q.go:3:23: cannot use \"a\" (untyped string constant) as int value in return statement\n", []string{
			`go error q/q.go:2:8 [] "os" imported and not used`,
			`go error q/q.go:3:23 [] cannot use "a" (untyped string constant) as int value in return statement`,
		}},
		{"go vet", "go vet", "vet: q/q.go:3:23: undefined: x\n./a.go:7: unreachable code\n", []string{"go error q/q.go:3:23 [] undefined: x", "go error ./a.go:7:0 [] unreachable code"}},
		{"staticcheck", "staticcheck ./...", "a.go:5:6: func f is unused (U1000)\n", []string{"go error a.go:5:6 [U1000] func f is unused"}},
		{"rustc", "cargo build", "error[E0308]: mismatched types\n --> r.rs:1:26\n  |\n1 | fn main() {}\n\nwarning: unused variable: `y`\n  --> src/main.rs:10:9\n\nerror: aborting due to 2 previous errors\n\n", []string{
			"rustc error r.rs:1:26 [E0308] mismatched types",
			"rustc warning src/main.rs:10:9 [] unused variable: `y`",
		}},
		{"tsc", "npx tsc", "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/b.ts:4:5 - error TS2304: Cannot find name 'x'.\n", []string{
			"tsc error src/a.ts:3:7 [TS2322] Type 'string' is not assignable to type 'number'.",
			"tsc-pretty error src/b.ts:4:5 [TS2304] Cannot find name 'x'.",
		}},
		{"eslint", "npx eslint .", "\n/home/ann/a.js\n  1:5   error    'x' is assigned a value but never used  no-unused-vars\n  12:1  warning  Unexpected console statement            no-console\n\n/home/ann/b.js\n  2:2  error  Parsing error: Unexpected token\n\n✖ 3 problems (2 errors, 1 warning)\n", []string{
			"eslint-stylish error /home/ann/a.js:1:5 [no-unused-vars] 'x' is assigned a value but never used",
			"eslint-stylish warning /home/ann/a.js:12:1 [no-console] Unexpected console statement",
			"eslint-stylish error /home/ann/b.js:2:2 [] Parsing error: Unexpected token",
		}},
		{"eslint by npm", "npm run lint", "/a/b.js\n  1:5  error  No  semi\n", []string{"eslint-stylish error /a/b.js:1:5 [semi] No"}},
		{"eslint unix", "eslint -f unix .", "/a/b.js:1:5: Missing semicolon. [Error/semi]\n", []string{"eslint-unix error /a/b.js:1:5 [semi] Missing semicolon."}},
		{"python", "python3 t.py", "Traceback (most recent call last):\n  File \"/x/t.py\", line 3, in <module>\n    f()\n  File \"/x/t.py\", line 2, in f\n    g()\n    ^\nNameError: name 'g' is not defined\n", []string{"python error /x/t.py:2:0 [NameError] name 'g' is not defined"}},
		{"python syntax", "python3 s.py", "  File \"/x/s.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n", []string{"python error /x/s.py:1:0 [SyntaxError] invalid syntax"}},
		{"python, no message", "python3 k.py", "Traceback (most recent call last):\n  File \"k.py\", line 1, in <module>\nKeyboardInterrupt\n", []string{"python error k.py:1:0 [KeyboardInterrupt] KeyboardInterrupt"}},
		{"mypy", "mypy .", "a.py:3: error: Incompatible return value type  [return-value]\na.py:4:1: note: See docs\n", []string{"mypy error a.py:3:0 [return-value] Incompatible return value type + a.py:4:1 See docs"}},
		{"flake8", "flake8", "a.py:1:80: E501 line too long (88 > 79 characters)\n", []string{"flake8 warning a.py:1:80 [E501] line too long (88 > 79 characters)"}},
		{"javac", "javac J.java", "J.java:1: error: cannot find symbol\nclass J { void g() { undefined(); } }\nJ.java:2: warning: [unchecked] unchecked call\n1 error\n", []string{
			"javac error J.java:1:0 [] cannot find symbol", "javac warning J.java:2:0 [unchecked] unchecked call",
		}},
		{"maven", "mvn -q compile", "[ERROR] /x/src/main/java/A.java:[12,8] cannot find symbol\n[WARNING] /x/A.java:[1,1] deprecated\n[ERROR] -> [Help 1]\n", []string{
			"maven error /x/src/main/java/A.java:12:8 [] cannot find symbol", "maven warning /x/A.java:1:1 [] deprecated",
		}},
		{"make", "make", "make: *** [Makefile:2: all] Error 1\nmake[1]: *** No rule to make target 'nope'.  Stop.\nMakefile:2: *** missing separator.  Stop.\n", []string{
			"make error :0:0 [] [Makefile:2: all] Error 1", "make error :0:0 [] No rule to make target 'nope'.  Stop.", "make error Makefile:2:0 [] missing separator.  Stop.",
		}},
		{"msbuild", "dotnet build", "  Program.cs(5,13): error CS0103: The name 'x' does not exist\na.cpp(7): fatal error C1083: Cannot open include file\n", []string{
			"msvc error Program.cs:5:13 [CS0103] The name 'x' does not exist", "msvc error a.cpp:7:0 [C1083] Cannot open include file",
		}},
		{"others' lines", "grep -rn error: .", "a.c:7:10: error: x\n", nil},
		{"not at all", "./configure", "checking for gcc... gcc\nchecking for error: no\n12:30:01: done\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Parse(c.line, &one, c.text)
			var got []string
			for _, d := range r.Diagnostics {
				got = append(got, formatDiagnostic(d))
				if lines := strings.Split(c.text, "\n"); d.At < 0 || d.At >= len(lines) || !strings.Contains(c.text, d.Message) && d.Code != d.Message {
					t.Errorf("line %d of %d", d.At, len(lines))
				}
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if (r.Kind == Diagnostics) != (len(c.want) > 0) {
				t.Errorf("kind %s", r.Kind)
			}
		})
	}
}

// FEATURES: R28
func TestExtraMatcher(t *testing.T) {
	p, err := NewParser(
		Matcher{Name: "mine", Commands: []string{"check"}, Severity: Warning, Patterns: []Pattern{{Regexp: `^!! (?P<file>\S+) (?P<line>\d+) (?P<message>.*)$`}}},
		Matcher{Name: "gcc", Patterns: []Pattern{{Regexp: `^never (?P<message>)$`}}})
	if err != nil {
		t.Fatal(err)
	}
	const text = "!! a.x 7 too bad\na.c:1:2: error: from gcc\n"
	one := 1
	if r := p.Parse("check it", &one, text); len(r.Diagnostics) != 1 || formatDiagnostic(r.Diagnostics[0]) != "mine warning a.x:7:0 [] too bad" {
		t.Errorf("%+v", r.Diagnostics)
	}
	if r := p.Parse("./other", &one, text); len(r.Diagnostics) != 0 {
		t.Errorf("another program's: %+v", r.Diagnostics)
	}
	if r := p.Parse("make", &one, text); len(r.Diagnostics) != 1 {
		t.Errorf("run by make: %+v", r.Diagnostics)
	}
}

// FEATURES: R28
func TestMatcherErrors(t *testing.T) {
	ok := Pattern{Regexp: `(?P<message>.*)`}
	for _, c := range []struct {
		m    Matcher
		want string
	}{
		{Matcher{Patterns: []Pattern{ok}}, "no name"},
		{Matcher{Name: "m"}, "no pattern"},
		{Matcher{Name: "m", Patterns: make([]Pattern, 9)}, "9 patterns"},
		{Matcher{Name: "m", Severity: "bad", Patterns: []Pattern{ok}}, "severity"},
		{Matcher{Name: "m", Patterns: []Pattern{{Regexp: "("}}}, "pattern 1: error parsing"},
		{Matcher{Name: "m", Patterns: []Pattern{{Regexp: "(?P<lines>x)"}}}, `unknown group "lines" (known: file,`},
		{Matcher{Name: "m", Patterns: []Pattern{ok, ok}}, "pattern 2: the group \"message\" comes twice"},
		{Matcher{Name: "m", Patterns: []Pattern{{Regexp: "(?P<file>x)"}}}, "no pattern has the group message"},
		{Matcher{Name: "m", Patterns: []Pattern{{Regexp: "(?P<message>x)", Loop: true}}}, "only the last"},
	} {
		_, err := NewParser(c.m)
		var me *MatcherError
		if !errors.As(err, &me) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.m, err, c.want)
		}
	}
}
