package policy

import (
	"strings"
	"testing"
)

// TestWhatIsNotSureToHaveHappened checks that an assignment or declaration of a line affects later commands only if it
// certainly ran.
//
// FEATURES: R60 R62
func TestWhatIsNotSureToHaveHappened(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		line string
		want Verdict
	}{
		{`x=rm; false && x=ls; $x -rf /`, Ask},
		{`x=rm; test 1 = 2 && x=ls; $x -rf /`, Ask},
		{`x=/; false && x=/tmp/a; rm -rf $x`, Ask},
		{`x=rm; false && x=ls || $x -rf /`, Ask},
		{`x=rm; true && x=ls; $x -l`, Allow},
		{`x=rm; alias g=ls && x=ls; $x -l`, Allow},
		{`x=rm; alias nosuch && x=ls; $x -rf /`, Ask},
		{`x=rm; export y=1 && unset y && x=ls; $x -l`, Allow},
		{`x=rm; export UID=5 && x=ls; $x -rf /`, Ask},
		{`x=rm; export -z && x=ls; $x -rf /`, Ask},
		{`x=rm; unset -z && x=ls; $x -rf /`, Ask},
		{`x=rm; readonly y=1; y=2 && x=ls; $x -rf /`, Ask},
		{`x=rm; readonly y=1; unset y && x=ls; $x -rf /`, Ask},
		{`x=rm; echo >&- && x=ls; $x -rf /`, Ask},
		{`x=rm; true() { return 1; }; true && x=ls; $x -rf /`, Ask},
		{`export A=ls && export B=-l && $A $B`, Allow},
		{`export GIT_EDITOR=/tmp/x; false && export GIT_EDITOR=vi; git commit`, Ask},
		{`false && cd /tmp/foo; rm -rf *`, Ask},
		{`cd /tmp/foo && rm -rf *`, Allow},
		{`set -- rm; false && set -- ls; $1 -rf /`, Ask},
		{`set -- rm; set -- ls; $1 -l`, Allow},

		{`rm() { echo; }; rm -rf /`, Allow},
		{`rm() { echo; }; unset -f rm; rm -rf /`, Deny},
		{`false && rm() { echo; }; rm -rf /`, Deny},
		{`true || rm() { echo; }; rm -rf /`, Deny},
		{`if false; then rm() { echo; }; fi; rm -rf /`, Deny},
		{`(rm() { echo; }); rm -rf /`, Deny},
		{`rm() { echo; } | true; rm -rf /`, Deny},
		{`rm() { echo; } & rm -rf /`, Deny},
		{`alias rm=echo; rm -rf /`, Deny},
		{`alias rm=echo; unalias rm; rm -rf /`, Deny},
		{`alias ll='ls -l'; ll /tmp`, Allow},

		{`readonly x=rm; x=ls; $x -rf /`, Ask},
		{`x=rm; local x=ls; $x -rf /`, Ask},
		{`declare -l x=RM; $x -rf /`, Ask},
		{`declare -n r=y; y=ls; r=rm; $y -rf /`, Ask},
		{`x=rm; f() { local x=ls; }; f; $x -rf /`, Ask},
		{`x=rm; f() { return; x=ls; }; f; $x -rf /`, Ask},
		{`x=rm; trap 'x=ls' EXIT; $x -rf /`, Ask},
		{`x=rm; bash -c 'x=ls'; $x -rf /`, Deny},
		{`x=rm; eval 'x=ls'; $x -l`, Allow},
		{`exec <<< 'tmux new -d "$'"'"'\x78args'"'"' cp x /dev/sda"'; bash`, Ask},
		{`exec <<< 'setsid xargs cp x /dev/sda'; bash`, Ask},
	} {
		if j := e.Judge(Line{Text: row.line, Cwd: "/home/me/site", Home: "/home/me"}); j.Verdict != row.want {
			t.Errorf("%s\n\t%v (%s: %s), want %v", row.line, j.Verdict, j.Rule, j.Why, row.want)
		}
	}
}

// TestLinesAfterOthers checks that the meaning of a line depends on the state that earlier lines left in its shell, as
// far as these are known to have run.
//
// FEATURES: R60 R61 R62
func TestLinesAfterOthers(t *testing.T) {
	dirty := strings.Repeat("x", maxMemory)
	for _, row := range []struct {
		preset  Preset
		earlier []string // "… " before: it was given to the shell, and may not have run
		line    string
		want    Verdict
	}{
		{Hard, []string{`x=rm`}, `$x -rf /`, Deny},
		{Hard, []string{`x=ls`}, `$x -l`, Allow},
		{Hard, []string{`… x=rm`}, `$x -rf /`, Ask},
		{Hard, []string{`x=rm`, `… x=ls`}, `$x -rf /`, Ask},
		{Hard, []string{`x=rm`, `sleep 9; x=ls`}, `$x -rf /`, Ask},
		{Hard, []string{`x=rm`, `false && x=ls`}, `$x -rf /`, Ask},
		{Hard, []string{`x=rm`, `x=ls`}, `$x -rf /`, Allow},
		{Hard, []string{`x=r`, `x=${x}m`}, `$x -rf /`, Deny},
		{Hard, []string{`x=echo`, `exec bash`}, `$x rm -rf /`, Ask},
		{Hard, []string{`x=echo`, `bash`}, `$x rm -rf /`, Ask},
		{Hard, []string{`x=echo`, `bash build.sh`}, `$x rm -rf /`, Allow},
		{Hard, []string{`D=/`}, `rm -rf $D`, Deny},
		{Hard, []string{`D=/tmp/build`}, `rm -rf $D`, Allow},
		{Hard, []string{`a=(rm -rf)`}, `${a[@]} /`, Deny},
		{Hard, []string{`export GIT_EDITOR=/tmp/x`}, `git commit`, Ask},
		{Hard, []string{`export GIT_EDITOR=/tmp/x`, `unset GIT_EDITOR`}, `git commit`, Allow},
		{Hard, []string{`export GIT_EDITOR=/tmp/x`, `false && unset GIT_EDITOR`}, `git commit`, Ask},
		{Hard, []string{`export LD_PRELOAD=/tmp/x.so`}, `ls`, Ask},
		{Hard, []string{`alias g=rm`}, `g -rf /`, Deny},
		{Hard, []string{`alias g=rm`, `… alias g=ls`}, `g -rf /`, Ask},
		{Hard, []string{`alias ll='ls -l'`}, `ll /tmp`, Allow},
		{Hard, []string{`run() { "$@"; }`}, `run rm -rf /`, Deny},
		{Hard, []string{`run() { "$@"; }`}, `run ls`, Allow},
		{Hard, []string{`… rm() { echo "$@"; }`}, `rm -rf /`, Deny},
		{Hard, []string{"f() { $(echo `echo rm`) -rf \"$1\"; }"}, `f /`, Deny},
		{Hard, []string{`… cd /tmp/other`}, `rm -rf *`, Ask},
		{Hard, []string{`sleep 1; cd /tmp/other`}, `rm -rf *`, Allow}, // the shell has reported its directory
		{Hard, []string{`readonly x=rm`, `x=ls`}, `$x -rf /`, Ask},
		{Hard, []string{`x=` + dirty[:60000], `y=` + dirty[:60000], `z=` + dirty[:60000], `u=` + dirty[:60000], `v=` + dirty[:60000]}, `ls`, Ask},
		{Hard, []string{`D=/tmp/build`, `. ./env.sh`}, `rm -rf $D`, Ask},
		{Hard, []string{`D=/tmp/build`, `source ~/.bashrc`}, `rm -rf $D`, Ask},
		{Hard, []string{`D=/tmp/build`, `if true; then . ./env.sh; fi`}, `rm -rf $D`, Ask},
		{Hard, []string{`D=/tmp/build`, `… . ./env.sh`}, `rm -rf $D`, Ask},
		{Hard, []string{`. ./env.sh`, `D=/tmp/build`}, `rm -rf $D`, Allow},
		{Hard, []string{`a=(ls -l)`, `source env.sh`}, `${a[@]}`, Ask},
		{Hard, []string{`D=/tmp/build`, `. ./env.sh`}, `rm -rf /tmp/build`, Allow},
		{Build, []string{`alias ls=curl`}, `ls example.org`, Ask},
		{Build, []string{`PATH=/tmp/x:$PATH`}, `git status`, Ask},
		{Build, []string{`export PATH=/tmp/x:$PATH`}, `git status`, Ask},
		{Build, []string{`false && PATH=/tmp/x:$PATH`}, `git status`, Ask}, // PATH is unchanged, or not
		{Build, []string{`PATH=$PATH:/tmp/x`}, `git status`, Allow},
		{Build, []string{`PATH=~/.local/bin:/usr/local/go/bin:$PATH`}, `git status`, Allow},
		{Build, []string{`PATH=/usr/bin/../../tmp/x:$PATH`}, `git status`, Ask},
		{Build, []string{`PATH=/tmp/x:$PATH`}, `/usr/bin/git status`, Allow},
		{Build, []string{`PATH=/tmp/x:$PATH`}, `cd sub`, Allow},
		{ReadOnly, []string{`PATH=.:$PATH`}, `ls`, Ask},
		{Hard, []string{`PATH=/tmp/x:$PATH`}, `git status`, Allow},
		{ReadOnly, []string{`x=ls`}, `$x -l`, Allow},
		{ReadOnly, []string{`x=touch`}, `$x f`, Ask},
		{Off, []string{`x=rm`}, `$x f`, Allow},
	} {
		e, err := New(Options{Preset: row.preset})
		if err != nil {
			t.Fatal(err)
		}
		l := Line{Cwd: "/tmp/site", Home: "/home/me"}
		for _, text := range row.earlier {
			ran := RanFully
			l.Text, ran = text, RanFully
			if rest, ok := strings.CutPrefix(text, "… "); ok {
				l.Text, ran = rest, RanPerhaps
			}
			l.State = l.State.After(l, ran)
		}
		l.Text = row.line
		if j := e.Judge(l); j.Verdict != row.want {
			t.Errorf("%s after %.100q\n\t%v (%s: %s), want %v", row.line, row.earlier, j.Verdict, j.Rule, j.Why, row.want)
		}
	}
}

// TestStateWithTheShellsWord checks that the shell's own report of its variables overrides what was derived from lines.
//
// FEATURES: R62
func TestStateWithTheShellsWord(t *testing.T) {
	rm, ls := "rm", "ls"
	after := (*State)(nil).After(Line{Text: "make && x=ls"}, RanFully)
	for _, row := range []struct {
		told map[string]*string
		want Verdict
	}{
		{nil, Ask},
		{map[string]*string{"x": &ls}, Allow},
		{map[string]*string{"x": &rm}, Deny},
		{map[string]*string{"x": nil}, Ask},
	} {
		if j := neutralOf(t).Judge(Line{Text: "$x -rf /", State: after.WithVariables(row.told)}); j.Verdict != row.want {
			t.Errorf("%v: %v (%s), want %v", row.told, j.Verdict, j.Why, row.want)
		}
	}
}

// TestFunctionsDeclaredWithEachLine declares functions again with each line, as agents do. The hundredth line needs no
// approval.
//
// FEATURES: R61 R62
func TestFunctionsDeclaredWithEachLine(t *testing.T) {
	e := neutralOf(t)
	l := Line{Cwd: "/tmp/site", Home: "/home/me"}
	declare := "f() { : " + strings.Repeat("x", 4096) + "; ls \"$@\"; }; g() cat <<E\n" + strings.Repeat("y", 4096) + "\nE\nf "
	for i := range 100 {
		l.Text = declare + "/tmp" + strings.Repeat("z", i)
		if j := e.Judge(l); j.Verdict != Allow {
			t.Fatalf("line %d: %v (%s: %s)", i, j.Verdict, j.Rule, j.Why)
		}
		l.State = l.State.After(l, RanFully)
	}
	if n := l.State.size(); n > 4*len(declare) {
		t.Errorf("%d bytes are remembered of lines of %d", n, len(declare))
	}
	for _, row := range []struct {
		line, call string
		want       Verdict
	}{
		{`ls; f() { rm -rf "$1"; }`, "f /", Deny}, // either command is called
		{"ls; g() sh <<E\nls\nE", "g", Allow},
		{"ls; g() sh <<E\nrm -rf /\nE", "g", Deny},
	} {
		l.Text = row.line
		l.State = l.State.After(l, RanFully)
		if j := e.Judge(Line{Text: row.call, State: l.State, Cwd: l.Cwd, Home: l.Home}); j.Verdict != row.want {
			t.Errorf("%s after %q: %v (%s: %s)", row.call, row.line, j.Verdict, j.Rule, j.Why)
		}
	}
}

func neutralOf(t *testing.T) *Engine {
	t.Helper()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestLinesThatAreCutShort distinguishes incomplete lines from invalid ones.
//
// FEATURES: R61 R62
func TestLinesThatAreCutShort(t *testing.T) {
	e := neutralOf(t)
	for _, row := range []struct {
		shell, line string
		cut         bool
	}{
		{"bash", "if true; then", true}, {"bash", "for i in 1 2; do", true}, {"zsh", "while true; do\n", true}, {"bash", "case x in", true},
		{"bash", "echo 'a", true}, {"bash", `echo "a`, true}, {"sh", "cat <<EOF", true}, {"bash", "cat <<EOF\nhi", true}, {"bash", "f() {", true},
		{"bash", "echo $(ls", true}, {"bash", "a &&", true}, {"bash", "a |", true}, {"bash", `ls \`, true}, {"fish", "if true", true},
		{"bash", "make " + strings.Repeat("x ", 20000) + "'", true},
		{"bash", "if true; then make; fi", false}, {"bash", "cat <<EOF\nhi\nEOF", false}, {"bash", `echo \\`, false}, {"bash", "echo )", false},
		{"bash", "if true; then fi", false}, {"bash", "done", false}, {"bash", "bash -c 'if true; then'", false}, {"bash", "eval 'echo \"'", false},
		{"python3", "if True:", false}, {"python3", "print('a", false}, {"powershell", "if ($true) {", false}, {"fish", "if true; ls; end", false},
	} {
		if j := e.Judge(Line{Text: row.line, Shell: row.shell}); j.IsIncomplete != row.cut || j.IsIncomplete && j.Verdict == Deny {
			t.Errorf("%s %.60q: cut %v (%s), want %v", row.shell, row.line, j.IsIncomplete, j.Why, row.cut)
		}
	}
}

// TestCgroupsAreNotStopped checks that stopping all processes of a cgroup, which may include longterm's, needs approval
// under every preset but off. Reading and limits do not.
//
// FEATURES: R60
func TestCgroupsAreNotStopped(t *testing.T) {
	e, err := New(Options{Preset: Hard})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Verdict{
		"echo 1 > /sys/fs/cgroup/unified/x/cgroup.freeze":               Ask,
		"cd /sys/fs/cgroup && echo 1 >| a/cgroup.freeze":                Ask,
		"printf 1 | sudo tee /sys/fs/cgroup/a/cgroup.kill":              Ask,
		"cp one /sys/fs/cgroup/a/cgroup.kill":                           Ask,
		"echo $$ > /sys/fs/cgroup/longterm-7/keeper/cgroup.procs":       Ask,
		"dd if=one of=/sys/fs/cgroup/user.slice/a/../cgroup.freeze":     Ask,
		"cat /sys/fs/cgroup/a/cgroup.freeze":                            Allow,
		"cat /sys/fs/cgroup/longterm-7/a/cgroup.procs":                  Allow,
		"echo 0 > /sys/fs/cgroup/a/memory.max":                          Allow,
		"echo $$ > /sys/fs/cgroup/a/cgroup.procs":                       Allow,
		"echo 'echo 1 > /sys/fs/cgroup/a/cgroup.freeze stops everyone'": Allow,
	} {
		if j := e.Judge(Line{Text: line, Cwd: "/tmp", Home: "/home/me"}); j.Verdict != want {
			t.Errorf("%s: %v by %s", line, j.Verdict, j.Rule)
		}
	}
}

// TestWaysAround checks lines that try to evade the rules, and harmless lines of the same form.
//
// FEATURES: R60 R61
func TestWaysAround(t *testing.T) {
	e, err := New(Options{Preset: Hard})
	if err != nil {
		t.Fatal(err)
	}
	build, err := New(Options{Preset: Build})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		e     *Engine
		shell string
		line  string
		want  Verdict
	}{
		// Variables that a sourced file may have set are unknown; those set after it are known.
		{e, "", `D=build; . ~/.bashrc; rm -rf $D`, Ask},
		{e, "", `x=ls; . venv/bin/activate; $x`, Ask},
		{e, "", `. venv/bin/activate; x=ls; $x`, Allow},
		{e, "", `D=build; (. venv/bin/activate); rm -rf $D`, Allow},
		{e, "", `D=build; . venv/bin/activate; python x.py; rm -rf build`, Allow},
		// A directory may be a command: shells change to it.
		{e, "zsh", `setopt autocd; ~; rm -rf *`, Ask},
		{e, "bash", `shopt -s autocd; /; rm -rf *`, Ask},
		{e, "fish", `..; rm -rf *`, Ask},
		{e, "bash", `shopt -s cdable_vars; h=$HOME; cd h; rm -rf *`, Ask},
		{e, "bash", `./build.sh; rm -rf build/*`, Allow},
		// Other ways to remove.
		{e, "", `cd ~ && git init -q && git add -A && git rm -rf .`, Ask},
		{e, "", `git checkout --orphan x && git rm -rf .`, Allow},
		{e, "", `git rm -r --cached .`, Allow},
		{e, "", `tar -C ~ --remove-files -cf /dev/null .`, Deny},
		{e, "", `tar --remove-files -czf logs.tgz logs`, Allow},
		{e, "", `zip -rm x.zip ~`, Deny},
		{e, "", `zip --move -r x.zip ~`, Deny},
		{e, "", `zip -rm logs.zip logs`, Allow},
		{e, "", `zip -r x.zip ~`, Allow},
		{e, "", `setfacl -R -b /`, Deny},
		{e, "", `setfacl -R -m u:me:rx ~/src/site/logs`, Allow},
		{e, "", `rclone purge ~`, Deny},
		{e, "", `rclone sync /tmp/empty ~`, Deny},
		{e, "", `rclone sync ~ remote:backup`, Allow},
		{e, "", `rclone delete remote:old`, Allow},
		{e, "", `gio trash ~`, Ask},
		{e, "", `trash-put ~`, Ask},
		{e, "", `gio trash build`, Allow},
		{e, "", `trash build`, Allow},
		{e, "", `find ~ -type f -print0 | xargs -0 shred`, Ask},
		{e, "", `find ~ -type f | xargs rm`, Ask},
		{e, "", `find . -name '*.tmp' | xargs rm`, Allow},
		{e, "", `find ~/src/site/logs -type f | xargs shred`, Allow},
		{e, "", `rm ~/notes.txt`, Allow},
		{e, "", `userdel -r me`, Ask},
		{e, "", `kill -STOP $(ps -C longterm -o pid=)`, Deny},
		{e, "", `ps -C longterm`, Allow},
		{e, "", `pkill -P 1`, Ask},
		{e, "", `pkill -P 1234`, Allow},
		{e, "", `systemctl --user stop '*'`, Ask},
		{e, "", `systemctl stop user@1000`, Ask},
		{e, "", `systemctl --user stop myapp`, Allow},
		{e, "", `longterm rm --all`, Ask},
		{e, "", `longterm rm site`, Allow},
		{e, "", `coreutils --coreutils-prog=rm -rf ~`, Deny},
		{e, "", `git commit -m 'never run rm -rf / or dd of=/dev/sda'`, Allow},
		{e, "", `unknown of=/dev/sda`, Ask},
		// Longterm's own processes.
		{e, "", `gdb -p $(pidof longterm) -batch -ex 'call exit(0)'`, Ask},
		{e, "", `strace -p $(pgrep longterm)`, Ask},
		{e, "", `strace -f make`, Allow},
		{e, "", `gdb ./a.out`, Allow},
		{e, "", `loginctl terminate-user $USER`, Ask},
		{e, "", `loginctl list-sessions`, Allow},
		{e, "", `busctl --user call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager StopUnit ss longterm.service replace`, Ask},
		{e, "", `busctl --user list`, Allow},
		{e, "", `kill -9 $PPID`, Ask},
		{e, "", `kill -0 $PPID`, Allow},
		{e, "", `python3 -c 'open("/sys/fs/cgroup/x/cgroup.freeze","w").write("1")'`, Ask},
		{e, "", `python3 -c 'import pathlib; pathlib.Path("/sys/fs/cgroup", "x", "cgroup.kill").write_text("1")'`, Ask},
		{e, "", `python3 -c 'print(open("/sys/fs/cgroup/x/cgroup.freeze").read())'`, Allow},
		// PATH by zsh's other name, and within one line.
		{build, "zsh", `path=(/tmp/x $path); ls`, Ask},
		{build, "zsh", `path[1]=/tmp/x; git status`, Ask},
		{build, "zsh", `path[-1]=/tmp/x; git status`, Ask},
		{build, "zsh", `path=/tmp/x; git status`, Ask},
		{build, "zsh", `path=(/tmp/x); path+=(/usr/bin); git status`, Ask},
		{build, "zsh", `path+=(/tmp/x); git status`, Allow},
		{build, "zsh", `path+=/tmp/x; git status`, Allow},
		{build, "zsh", `PATH[1]=/tmp/x:; git status`, Ask},
		{build, "bash", `path=(/tmp/x); ls`, Allow},
		{build, "bash", `path[1]=/tmp/x; git status`, Allow},
		{build, "fish", `set -gx PATH /tmp/x $PATH; git status`, Ask},
		{build, "fish", `set --export PATH /tmp/x $PATH; git status`, Ask},
		{build, "fish", `set -p PATH /tmp/x; git status`, Ask},
		{build, "fish", `set --prepend PATH /tmp/x; git status`, Ask},
		{build, "fish", `set PATH[1] /tmp/x; git status`, Ask},
		{build, "fish", `set -U fish_user_paths /tmp/x; git status`, Ask},
		{build, "fish", `fish_add_path /tmp/x; git status`, Ask},
		{build, "fish", `fish_add_path -a /tmp/x; git status`, Ask},
		{build, "fish", `fish_add_path -aP /tmp/x; git status`, Allow},
		{build, "fish", `fish_add_path ~/.cargo/bin; git status`, Allow},
		{build, "fish", `set -gx PATH ~/go/bin $PATH; git status`, Allow},
		{build, "fish", `set -a PATH /tmp/x; git status`, Allow},
		{build, "", `PATH=/tmp/x:$PATH; git status`, Ask},
		{build, "", `PATH=$PATH:node_modules/.bin; git status`, Allow},
	} {
		l := Line{Text: row.line, Shell: row.shell, Cwd: "/home/me/src/site", Home: "/home/me"}
		if j := row.e.Judge(l); j.Verdict != row.want {
			t.Errorf("%s %s\n\t%v (%s: %s), want %v", row.shell, row.line, j.Verdict, j.Rule, j.Why, row.want)
		}
	}
}

// FuzzLinesAfterOthers checks that any sequence of lines is judged without a panic, and that the remembered state is
// bounded.
func FuzzLinesAfterOthers(f *testing.F) {
	for _, seed := range [][3]string{
		{"x=rm", "y=$x", "$y -rf /"}, {"f() { f; }", "f & f", "f"}, {"alias a=b", "alias b=a", "a"}, {"unset -f f", "f() { $1; }", "f f"},
		{"readonly x=`a`", "x=(1 2)", "${x[@]}"}, {"false && f() { :; }", "false && f() { rm; }", "f"}, {"cd /", "exec sh", "rm -rf *"},
	} {
		f.Add(seed[0], seed[1], seed[2], "bash")
	}
	e, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, second, line, shell string) {
		l := Line{Shell: shell, Cwd: "/tmp/site", Home: "/home/me", Text: first}
		one := (*State)(nil).after(l, RanPerhaps) // without recover: a panic is a fault
		l.State, l.Text = one, second
		two := one.after(l, RanFully)
		l.State, l.Text = two, line
		if j := e.Judge(l); j.Rule == "unknown" && j.Why == "the line cannot be judged" {
			t.Errorf("%q after %q, %q: a panic", line, first, second)
		}
		if two != nil && two.size() > maxMemory {
			t.Errorf("%d bytes are remembered", two.size())
		}
	})
}
