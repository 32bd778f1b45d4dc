package programs

import (
	"slices"
	"strings"
	"testing"
)

// FEATURES: R61
func TestFull(t *testing.T) {
	for line, want := range map[string]string{
		"npm i": "install", "npm pub": "publish", "npm un": "uninstall", "npm p": "p", "npm publish": "publish", "npm nothing": "nothing",
		"npm run-script": "run", "hg comm": "commit", "svn ci": "commit", "svn comm": "comm", "git pus": "pus", "dnf rm": "remove", "ip a": "address",
		"tmux kill-ser": "kill-server", "tmux kill": "kill", "cargo b": "build", "npm": "", "apt-get auto-remove": "autoremove",
	} {
		program, word, _ := strings.Cut(line, " ")
		if got := Full(program, word); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for line, want := range map[string]string{
		"docker container rm -f x": "rm -f x", "docker container ls": "container ls", "podman image rm x": "rmi x", "npm i x": "install x",
		"git status": "status",
	} {
		words := strings.Fields(line)
		before := slices.Clone(words)
		if got := strings.Join(Short(words[0], words[1:]), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
		if !slices.Equal(words, before) {
			t.Errorf("%s: its words were changed to %q", line, words)
		}
	}
}

// TestAliasesAreClear checks that no alias is the name of another subcommand, and none has two meanings.
func TestAliasesAreClear(t *testing.T) {
	for program, l := range aliasTable() {
		for alias, name := range l.full {
			if slices.Contains(l.names, alias) || !slices.Contains(l.names, name) {
				t.Errorf("%s: %s is an alias of %s, and also a name", program, alias, name)
			}
		}
	}
	for _, row := range aliases {
		seen := map[string]bool{}
		_, rest, _ := strings.Cut(row, ": ")
		for word := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ' ' || r == '=' || r == ',' }) {
			if seen[word] && word != "*" {
				t.Errorf("%.20s…: %s is there twice", row, word)
			}
			seen[word] = true
		}
	}
}
