package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// hostile makes lines of about size bytes that make parsers slow, deep or large.
func hostile(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"substitutions": fill("$("), "parameters": fill("${x:-"), "subshells": fill("("), "blocks": fill("{ " +
			""), "brackets": fill("$(("),
		"backticks": fill("`"), "quotes": fill(`"$(`), "ifs": fill("if "), "loops": fill("while "),
		"cases": fill("case x in x) "),
		"not":   fill("! "), "minus": "((" + fill("-") + "1))", "tests": "[[ " + fill("! ") + "x ]]",
		"pipes": "a" + fill("|a"),
		"and":   "a" + fill("&&a"), "semicolons": fill(":;"), "here": fill("<<A "), "expansions": "cat <<E\n" + fill("$x a ") + "\nE", "heredocs": fill("cat " +
			"<<A\n"), "braces": "echo " + fill("{a,b}"),
		"nested braces": "echo " + fill("{a,"), "ranges": "echo " + fill("{1..9}"),
		"double": "x=aa;" + fill("x=$x$x;") + "$x",
		"words":  "echo " + fill("a "), "letters": fill("a"), "dollar": fill("$x"), "backslash": fill(`\`),
		"functions":        fill("f(){ f;};"),
		"nested functions": fill("f(){ "), "loops in loops": fill("for x in 1 2;do "), "evals": fill("eval " +
			""), "sudo": fill("sudo "),
		"env": fill("env "), "ternary": "((" + fill("1?") + "1))", "assign": "((" + fill("a=") + "1))",
		"time":          fill("time "),
		"subshell list": fill("(:);"), "arrays": "a=(" + fill("x ") + ")", "newlines": fill("\n"),
		"comments":  fill("#\n"),
		"processes": fill("<("), "globs": "ls " + fill("[a]"), "open globs": "ls " + fill("["),
		"tildes": fill("~ "), "calls": "f(){ :;};" + fill("f;"),
		"find": "find " + fill("-exec a {} + "), "redirects": fill(">a "), "aliases": "alias " + fill("a=b "+
			""), "xargs": fill("xargs "),
		"python": "python3 -c '" + fill("system(\"a\")") + "'", "sed": "sed '" + fill("p;") + "'",
		"awk":     "awk '" + fill("print ") + "'",
		"unknown": "foo " + fill("rm -rf / "), "vars": fill("a=1;(a=2);"), "coproc": fill("coproc "),
		"function": fill("function f "),
		"select":   fill("select "), "exec": fill("exec "), "let": "let " + fill("a[b["), "cr": fill("a\r\n"),
	}
}

// FEATURES: R62
func TestHostileLinesAreAnswered(t *testing.T) {
	tier.Full(t)
	e := engineFor(t, "hard")
	for _, size := range []int{5000, 100 << 10, 1 << 20} {
		for name, line := range hostile(size) {
			start := time.Now()
			e.Judge(Line{Text: line})
			t.Logf("%8d %-18s %v", size, name, time.Since(start)) // it ends; how soon is for the benchmark
			if j := e.Judge(Line{Text: "rm -rf /\n" + line}); j.Verdict == Allow {
				t.Errorf("%s of %d bytes after rm -rf / is allowed", name, size)
			}
		}
	}
}

// TestHostileLinesOfOtherShellsAreAnswered checks that readers of other shells answer too, and that a denial before the
// line is kept.
//
// FEATURES: R62
func TestHostileLinesOfOtherShellsAreAnswered(t *testing.T) {
	tier.Full(t)
	e := engineFor(t, "hard")
	first := map[string]string{"fish": "rm -rf /\n", "zsh": "rm -rf /\n", "mksh": "rm -rf /\n", "powershell": "rm -r C:\\\n",
		"cmd": "rd /s /q C:\\\n"}
	for shell, denied := range first {
		for _, size := range []int{5000, 60 << 10} {
			for name, line := range hostile(size) {
				if j := e.Judge(Line{Text: denied + line, Shell: shell}); j.Verdict == Allow {
					t.Errorf("%s: %s of %d bytes after a denial is allowed", shell, name, size)
				}
			}
		}
	}
}

// TestLongLinesAreJudged checks that a long harmless line is judged, and that commands in it are found: text in
// here-documents, many words, many lines.
//
// FEATURES: R61 R62
func TestLongLinesAreJudged(t *testing.T) {
	tier.Full(t)
	e := engineFor(t, "hard")
	text := strings.Repeat("The (quick) brown fox's jumps; over && the \"lazy\" dog | and $so on\n", 5000)
	names := strings.Repeat("src/a_file.go ", 20000)
	for name, line := range map[string]string{
		"a here-document": "cat > x <<'EOF'\n" + text + "EOF\nmake\n",
		"another form":    "cat <<-EOF > x\n" + strings.ReplaceAll(text, "$", "") + "\tEOF\n",
		"text in quotes":  "echo '" + strings.ReplaceAll(text, "'", "") + "' > x",
		"a blob":          "echo " + strings.Repeat("QUJD", 200000) + " | base64 -d > x",
		"many words":      "git add " + names,
		"many lines":      strings.Repeat("make check && echo done\n", 5000),
	} {
		if len(line) <= 64<<10 {
			t.Fatalf("%s: only %d bytes", name, len(line))
		}
		if j := e.Judge(Line{Text: line, Cwd: "/home/me/x", Home: "/home/me"}); j.Verdict != Allow {
			t.Errorf("%s of %d bytes: %s: %s", name, len(line), j.Verdict, j.Why)
		}
		for _, more := range []string{"\nrm -rf /\n", "\ncat <<'A' | sh\nrm -rf /\nA\n", "\n(sudo rm -rf ~) &\n"} {
			if j := e.Judge(Line{Text: line + more, Cwd: "/home/me/x", Home: "/home/me"}); j.Verdict != Deny {
				t.Errorf("%s, then %q: %s", name, more, j.Verdict)
			}
		}
	}
	if j := e.Judge(Line{Text: "cat <<'E' | sh\n" + strings.Repeat("echo a long line of a long script\n", 3000) + "rm -rf /\nE\n"}); j.Verdict != Deny {
		t.Errorf("a long script with rm -rf / in it: %s %s", j.Verdict, j.Why)
	}
}

func BenchmarkHostile(b *testing.B) {
	e := engineFor(b, "hard")
	for name, line := range hostile(1 << 20) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				e.Judge(Line{Text: line})
			}
		})
	}
	for name, line := range hostile(60 << 10) {
		b.Run("unsplit "+name, func(b *testing.B) {
			for b.Loop() {
				e.Judge(Line{Text: line})
			}
		})
	}
}

// TestExpansionsOfHereDocuments checks the limit on parsed expansions of here-documents. A quoted delimiter has none.
//
// FEATURES: R62
func TestExpansionsOfHereDocuments(t *testing.T) {
	e := engineFor(t, "hard")
	for _, row := range []struct {
		begin, unit string
		want        Verdict
	}{{"cat <<E\n", "$x a ", Ask}, {"cat <<E\n", "$(a)", Ask}, {"cat <<E\n", "`a`", Ask}, {"cat <<-E\n", "$x a ", Ask}, {"cat <<'E'\n", "$x a ", Allow}, {"cat <<\\E\n", "$(a)", Allow}, {"cat <<E\n", "a word ", Allow}} {
		line := row.begin + strings.Repeat(row.unit, (1<<20-20)/len(row.unit)) + "\nE"
		if j := e.Judge(Line{Text: line, Cwd: "/home/me/x", Home: "/home/me"}); j.Verdict != row.want {
			t.Errorf("%q of %q: %s (%s)", row.begin, row.unit, j.Verdict, j.Why)
		}
	}
}
