package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FEATURES: R9
func TestDetect(t *testing.T) {
	for argv0, want := range map[string]Kind{
		"bash": Bash, "/bin/bash": Bash, "-bash": Bash, "/usr/local/bin/bash-5.2": Bash, "rbash": Bash,
		"zsh": Zsh, "-zsh": Zsh, "zsh-5.9": Zsh, "fish": Fish, "dash": Dash, "sh": Dash, "/bin/sh": Dash, "ash": Dash,
		"ksh": Ksh, "ksh93": Ksh, "mksh": Mksh, "pwsh": Pwsh, `C:\Program Files\PowerShell\7\pwsh.exe`: Pwsh, "powershell.exe": Pwsh,
		"": Unknown, "vim": Unknown, "bash-completion": Unknown, "python3": Unknown, "nu": Unknown,
	} {
		if got := Detect([]string{argv0}); got != want {
			t.Errorf("%q: got %q, want %q", argv0, got, want)
		}
	}
	if got := Detect(nil); got != Unknown {
		t.Errorf("no arguments: got %q", got)
	}
}

// FEATURES: R9
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	d := func(s string) string { return strings.ReplaceAll(s, "@D", dir) }
	for _, c := range []struct {
		argv string
		want string // argv, or ": " and part of the reason
		env  []string
	}{
		{"bash", "bash --init-file @D/longterm.bash", []string{"LONGTERM_RC=/home/u/.bashrc", "ENV=mine"}},
		{"bash -i", "bash --init-file @D/longterm.bash -i", nil},
		{"bash --rcfile /x -O extglob", "bash --init-file @D/longterm.bash -O extglob", []string{"LONGTERM_RC=/x"}},
		{"bash -l", "bash --posix -l", []string{"ENV=@D/longterm.bash", "LONGTERM_ENV=mine", "LONGTERM_START=login,posix,histfile"}},
		{"bash --login", "bash --posix --login", []string{"LONGTERM_START=login,posix,histfile"}},
		{"-bash", "-bash --posix", []string{"LONGTERM_START=login,posix,histfile"}},
		{"bash --login --noprofile", "bash --posix --login", []string{"LONGTERM_START=posix,histfile"}},
		{"bash --norc", "bash --posix", []string{"LONGTERM_START=posix,histfile"}},
		{"bash --posix", "bash --posix", []string{"LONGTERM_START=posix,keep-posix,env"}},
		{"bash -c true", ": command", nil},
		{"bash -lc true", ": command", nil},
		{"bash script.sh", ": script", nil},
		{"bash -- script.sh", ": script", nil},
		{"bash -s arg", "bash --init-file @D/longterm.bash -s arg", nil},
		{"bash -r", ": restricted", nil},
		{"bash --unheard-of", ": not known: --unheard-of", nil},
		{"bash --version", ": not known", nil},
		{"zsh", "zsh", []string{"ZDOTDIR=@D/zsh", "LONGTERM_ZDOTDIR=/z"}},
		{"zsh -l", "zsh -l", nil},
		{"zsh --login", "zsh --login", nil},
		{"zsh -f", ": disable startup files", nil},
		{"zsh -c x", ": command", nil},
		{"zsh -o extendedglob", "zsh -o extendedglob", nil},
		{"fish", "fish -C source '@D/longterm.fish'", nil},
		{"fish -l -C foo", "fish -C source '@D/longterm.fish' -l -C foo", nil},
		{"fish -c foo", ": command", nil},
		{"fish x.fish", ": script", nil},
		{"dash", "dash", []string{"ENV=@D/longterm.sh", "LONGTERM_ENV=mine"}},
		{"mksh -l", "mksh -l", []string{"ENV=@D/longterm.sh"}},
		{"ksh -p", ": disable startup files", nil},
		{"pwsh", "pwsh -NoExit -File @D/longterm.ps1", nil},
		{"pwsh -NoLogo -WorkingDirectory /x", "pwsh -NoLogo -WorkingDirectory /x -NoExit -File @D/longterm.ps1", nil},
		{"pwsh -Command x", ": command", nil},
		{"vim x", ": not a shell", nil},
	} {
		t.Run(c.argv, func(t *testing.T) {
			env := []string{"HOME=/home/u", "ENV=mine", "ZDOTDIR=/z"}
			argv := strings.Fields(c.argv)
			l, err := Prepare(Setup{Argv: argv, Env: env, Dir: dir, Host: "h"})
			if err != nil {
				t.Fatal(err)
			}
			if reason, ok := strings.CutPrefix(c.want, ": "); ok {
				if l.Quality != None || !strings.Contains(l.Reason, reason) || !slices.Equal(l.Argv, argv) || !slices.Equal(l.Env, env) || l.Nonce != "" {
					t.Errorf("got %+v, want an unchanged launch, reason %q", l, reason)
				}
				return
			}
			if got := strings.Join(l.Argv, " "); got != d(c.want) {
				t.Errorf("got argv %q, want %q", got, d(c.want))
			}
			for _, kv := range append(c.env, "LONGTERM_HOST=h", "LONGTERM_STATE=@D") {
				if !slices.Contains(l.Env, d(kv)) {
					t.Errorf("environment %q lacks %q", l.Env, d(kv))
				}
			}
			if l.Quality == None || len(l.Nonce) != 32 || l.StateDir != dir {
				t.Errorf("%+v", l)
			}
		})
	}
}

func TestPrepare_FilesArePrivate(t *testing.T) {
	dir := t.TempDir()
	if _, err := Prepare(Setup{Argv: []string{"zsh"}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"zsh": 0o700, "zsh/.zshenv": 0o600, "zsh/longterm.zsh": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v", name, info, err)
		}
	}
}

func TestPrepare_RejectsInvalidDirectories(t *testing.T) {
	for _, dir := range []string{"", "relative", "/a'b", "/a$b", "/a`b", "/a\nb"} {
		if _, err := Prepare(Setup{Argv: []string{"fish"}, Dir: dir}); err == nil {
			t.Errorf("%q: got no error", dir)
		}
	}
}

// FuzzOptions checks that a shell without integration starts with unchanged arguments, and one with integration keeps
// its operands.
func FuzzOptions(f *testing.F) {
	f.Add("bash -lc x")
	f.Add("zsh -o a -- b")
	f.Add("fish -Cx --d=e")
	f.Add("pwsh -NoExit")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, line string) {
		argv := strings.Split(line, " ")
		l, err := Prepare(Setup{Argv: argv, Dir: dir, Nonce: "n", Host: "h"})
		if err != nil {
			t.Fatal(err)
		}
		if l.Quality == None && !slices.Equal(l.Argv, argv) || len(l.Argv) == 0 {
			t.Errorf("%q became %q", argv, l.Argv)
		}
		if l.Quality == None != (l.Reason != "") {
			t.Errorf("%q: %+v", argv, l)
		}
	})
}
