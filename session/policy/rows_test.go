package policy

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// codeOf is code of a language that destroys.
var codeOf = map[string]string{"sh": "rm -rf /", "awk": `BEGIN{system("rm -rf /")}`, "sed": "1e rm -rf /", "vim": "!rm -rf /",
	"sql": ".shell rm -rf /", "make": "x:;rm -rf /", "python": "import os; os.system('rm -rf /')", "perl": "system('rm -rf /')",
	"ruby": "system('rm -rf /')", "php": "system('rm -rf /');", "node": "require('child_process').execSync('rm -rf /')",
	"lisp":    `(run-program "/bin/rm" (list "-rf" "/"))`,
	"console": "x rm -rf /", "other": "system(\"rm -rf /\")", "powershell": `rd /s /q C:\`}

// notAlone lists rows whose reading cannot be shown by the program's name and one operand.
var notAlone = map[string]string{
	"bc": "it only reads without operands", "dc": "it only reads without operands",
	"set": "it shows the environment with its secrets", "export": "it shows the environment with its secrets",
	"printenv": "it shows the environment with its secrets", "hash": "with operands it changes the shell",
	"info": "its options differ by version", "systemctl": "it needs a subcommand", "ip": "it needs a subcommand",
	"tar": "its old form has its options in a word of its own", "stty": "with operands it changes the terminal", "yq": "its operand is code",
}

// TestEveryRowOfTheTableIsProven checks that each claim of a row of the table of programs takes effect in the engine:
// for each, a command is made of the row, and judged. A claim without effect is named.
//
// FEATURES: R61
func TestEveryRowOfTheTableIsProven(t *testing.T) {
	hard, readonly := engineFor(t, "hard"), engineFor(t, "readonly")
	claims := 0
	programs.All(func(p *programs.Program) {
		for name := range strings.SplitSeq(p.Name, ",") {
			name = strings.TrimSpace(name)
			stopped := func(e *Engine, claim, line string) {
				claims++
				for _, place := range []string{"/", "~", "$HOME", "/*"} { // whichever is removed
					line := strings.ReplaceAll(line, "rm -rf /", "rm -rf "+place)
					if j := e.Judge(Line{Text: line, Cwd: "/home/me/x", Home: "/home/me"}); j.Verdict == Allow {
						t.Errorf("row %q claims %s, but this is allowed: %s", name, claim, line)
					}
					if !strings.Contains(line, "rm -rf") {
						break
					}
				}
			}
			each := func(list string, f func(option string)) {
				for o := range strings.FieldsSeq(list) {
					if strings.HasPrefix(o, "-") && !strings.HasSuffix(o, "-x") {
						f(o)
					}
				}
			}
			each(p.Shell, func(o string) { stopped(hard, o+" is shell text", name+" "+o+" 'rm -rf /' x") })
			each(p.Argv, func(o string) { stopped(hard, o+" is followed by a command", name+" / "+o+" rm -rf / ';'") })
			each(p.Runs, func(o string) {
				for _, program := range []string{"./x", "rm", "sh"} {
					stopped(hard, o+" runs a program", name+" "+o+" "+program+" y z")
				}
			})
			each(p.Loads, func(o string) { stopped(hard, o+" is code that is loaded", name+" "+o+" ./x.so y z") })
			each(p.Writes, func(o string) { stopped(hard, o+" writes a file", name+" "+o+" /dev/sda x y") })
			if code, ok := codeOf[p.Lang]; ok {
				quoted := "'" + strings.ReplaceAll(code, "'", `'\''`) + "'"
				each(p.Code, func(o string) { stopped(hard, o+" is code", name+" "+o+" "+quoted+" x") })
				if p.StdinRun {
					stopped(hard, "standard input is code", "echo "+quoted+" | "+name)
				}
				if p.Run == programs.RunFirstCode {
					stopped(hard, "its first operand is code", name+" "+quoted+" x")
				}
			} else if p.Code != "" {
				t.Errorf("row %q has code of language %q, which has no test", name, p.Lang)
			}
			filler := strings.Repeat(" x", p.Skip)
			switch p.Run {
			case programs.RunArgv:
				if name == "runuser" {
					filler = " -u x --"
				}
				if !p.Stop {
					filler += " --"
				}
				stopped(hard, "its operands are a command", name+filler+" rm -rf /")
			case programs.RunShell:
				stopped(hard, "its operands are shell text", name+filler+" 'rm -rf /'")
			case programs.RunFirstShell:
				stopped(hard, "its first operand is shell text", name+" 'rm -rf /' x")
			case programs.RunPerhaps:
				stopped(hard, "an argument may be a command", name+" x rm -rf /")
				stopped(hard, "an argument may have a command in it", name+" -x 'y rm -rf /'")
			case programs.RunScript:
				if name != "crontab" {
					stopped(hard, "its first operand is a file of commands", name+" unknown.file")
				}
			}
			switch p.WriteTo {
			case programs.AllOperands, programs.FirstOperand:
				stopped(hard, "its operands are written", name+" /dev/sda")
			case programs.LastOperand, programs.OperandsAfterFirst:
				stopped(hard, "its last operand is written", name+" x /dev/sda")
			}
			if !p.Reads {
				continue
			}
			first, rest, _ := strings.Cut(name, " ")
			reading := strings.TrimSpace(first + " " + rest)
			if need := strings.Fields(p.Need); len(need) > 0 {
				reading += " " + need[0]
			}
			if p.Run == programs.RunFirstCode {
				reading += map[string]string{"awk": " '{print}'", "sed": " p"}[p.Lang]
			}
			if !p.None && p.Need == "" && p.NeedArg == "" && p.Max == 0 && !p.SubOnly {
				reading += " x"
			}
			if _, left := notAlone[name]; !left && !p.SubOnly {
				claims++
				if j := readonly.Judge(Line{Text: reading, Cwd: "/home/me/x", Home: "/home/me"}); j.Verdict != Allow {
					t.Errorf("row %q claims to read, but %q: %s (%s)", name, reading, j.Verdict, j.Why)
				}
			}
			each(p.Unsafe, func(o string) { stopped(readonly, o+" makes it do more", reading+" "+o+" y") })
			if p.Strict {
				stopped(readonly, "other options than its own make it do more", reading+" --unheard-of=x")
			}
			each(p.Values, func(o string) { // an option that could be read as a value
				if u := strings.Fields(p.Unsafe); len(u) > 0 && strings.HasPrefix(u[0], "-") && !p.OneDash {
					stopped(readonly, "whatever "+o+" takes, "+u[0]+" makes it do more", reading+" "+o+" "+u[0])
				}
			})
			if p.None {
				stopped(readonly, "it only reads without operands", reading+" x")
			}
			if p.Max > 0 {
				stopped(readonly, "it only reads with few operands", reading+strings.Repeat(" x", p.Max+1))
			}
			if p.Need != "" && !p.Old {
				stopped(readonly, "it only reads when asked to", name+" nothing")
			}
			if p.NeedArg != "" {
				stopped(readonly, "with an operand it only reads when asked to", name+" x")
			}
		}
	})
	t.Logf("%d claims", claims)
}
