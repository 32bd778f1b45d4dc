package policy

import (
	"strings"
	"testing"
)

// FEATURES: R65
func TestScreens(t *testing.T) {
	for line, want := range map[string]bool{
		"vim x": true, "sudo vim x": true, "FOO=1 vim": true, "a | less": true, "cd x && top": true, "sh -c 'nano x'": true,
		"env A=b htop": true, "tmux": true, "tmux attach": true, "screen": true, "ssh host": true, "watch ls": true,
		"git commit": true, "git commit -a": true, "git -C x rebase -i HEAD~2": true, "crontab -e": true, "man ls": true,
		"x=vim; $x y": true, "(emacs -nw)": true, "echo a; (vi)": true, "git log | less -R": true, "if true; then mc; fi": true,
		"/usr/bin/vim x": true, `\vim x`: true, "nohup top &": true, "sudo -u x tmux new -s y": true, "/opt/x/nvim a": true,

		"echo vim": false, "vim --version": false, "vim -es -c q x": false, "less x | cat": false, "man ls | cat": false,
		"grep vim x": false, "which less": false, "apt install vim": false, "top -b -n1": false, "emacs --batch -l x": false,
		"tmux new -d -s x make": false, "tmux ls": false, "tmux kill-server": false, "screen -dmS x make": false, "screen -ls": false,
		"ssh host ls": false, "ssh -N -L 1:a:2 host": false, "ssh host <<< ls": false, "git commit -m x": false,
		"git commit -am x": false, "git commit --amend --no-edit": false, "git log": false, "git rebase main": false,
		"git add -p": true, "git stash -p": true, "git checkout --patch x": true, "git log -p": false, "git stash show -p": false, "git stash list -p": false,
		"crontab -l": false, "man -k x": false, "echo 'vim x'": false, "cat <<E\nvim\nE": false, "ls | fzf -f x": false,
		"GIT_EDITOR=true git commit --amend": false, "EDITOR=vim git commit": true, "GIT_EDITOR=/usr/bin/nano git commit": true,
		"export GIT_EDITOR=:; git commit": false, "GIT_EDITOR=$X git commit": true, "env GIT_EDITOR=true git commit": false,
		"EDITOR=cat crontab -e": false, "GIT_EDITOR=true crontab -e": true,
		"rm vim": false, "": false, "ls (": false,
	} {
		if got := FullScreenCommand(Line{Text: line}); (got != "") != want {
			t.Errorf("%s: %q, want %v", line, got, want)
		}
	}
	for words, want := range map[string]string{"git commit": "-m", "git add -p": "git apply", "git rebase -i": "GIT_SEQUENCE_EDITOR", "git difftool": "use a terminal"} {
		if got := FullScreenAlternative(words); !strings.Contains(got, want) || want != "-m" && strings.Contains(got, "message") {
			t.Errorf("%s: %s", words, got)
		}
	}
	if got := FullScreenCommand(Line{Text: "make && sudo vim 'a b'"}); got != "vim a b" {
		t.Errorf("got %q", got)
	}
}

// FEATURES: R72
func TestInRoots(t *testing.T) {
	for _, c := range []struct {
		dir   string
		roots []string
		want  bool
	}{
		{"/proj", []string{"/proj"}, true}, {"/proj/a", []string{"/proj"}, true}, {"/proj/a/", []string{"/proj/"}, true},
		{"/proj-evil", []string{"/proj"}, false}, {"/proj/../etc", []string{"/proj"}, false}, {"/pro", []string{"/proj"}, false},
		{"/", []string{"/proj"}, false}, {"/a", []string{"/"}, true}, {"/b/c", []string{"/a", "/b"}, true},
		{"proj", []string{"/proj"}, false}, {"/proj", []string{"proj"}, false}, {"", []string{"/proj"}, false},
		{"/x", nil, true}, {"/proj/..a", []string{"/proj"}, true}, {"/proj\x00", []string{"/proj"}, false},
	} {
		if got := InRoots(c.dir, c.roots); got != c.want {
			t.Errorf("InRoots(%q, %q) = %v", c.dir, c.roots, got)
		}
	}
}
