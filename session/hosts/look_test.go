//go:build unix

package hosts

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// What a host tells of itself is read past what its login scripts print, and what is no path is none.
func TestLook(t *testing.T) {
	for out, want := range map[string]There{
		"hello\nlongterm-there:system Linux x86_64\nlongterm-there:program /usr/bin/longterm\n": {"linux/amd64", "/usr/bin/longterm"},
		"longterm-there:system Darwin arm64\r\n":                                                {"darwin/arm64", ""},
		"longterm-there:system Linux x86_64\nlongterm-there:program longterm\n":                 {"linux/amd64", ""},
		"longterm-there:system Linux x86_64\nlongterm-there:program /a\x1b[2J\n":                {"linux/amd64", ""},
		"longterm-there:system Plan9 mips\n":                                                    {"Plan9 mips", ""},
	} {
		if got, err := parseLook("far", out); err != nil || got != want {
			t.Errorf("%q: %+v, %v", out, got, err)
		}
	}
	if _, err := parseLook("far", "This account is not available.\n"); err == nil || !strings.Contains(err.Error(), "not available") {
		t.Error(err)
	}
}

// The scripts are what a shell takes in single quotes.
func TestScripts(t *testing.T) {
	for _, s := range []string{lookScript, installScript} {
		if strings.ContainsAny(s, "'!") {
			t.Errorf("a quote, or an exclamation mark, in %s", s)
		}
	}
	out, err := exec.Command("sh", "-c", "exec sh -c '"+lookScript+"'").Output()
	if err != nil || !strings.Contains(string(out), mark+"system ") {
		t.Errorf("%s, %v", out, err)
	}
}

// How ssh ended is told by what it said.
func TestComplaints(t *testing.T) {
	ended := exec.Command("sh", "-c", "exit 255").Run()
	for said, want := range map[string]api.Code{
		"ssh: Could not resolve hostname x: Name or service not known": api.CodeHostUnknown,
		"x@y: Permission denied (publickey).":                          api.CodeHostRefused,
		"Host key verification failed.":                                api.CodeHostRefused,
		"ssh: connect to host x port 22: No route to host":             api.CodeUnavailable,
		"": api.CodeUnavailable,
	} {
		var e *api.Error
		if err := failureOf("far", ended, said); !errors.As(err, &e) || e.Code != want || !strings.Contains(e.Message, "far") {
			t.Errorf("%q: %v", said, err)
		}
	}
	if failureOf("far", nil, "banner") != nil {
		t.Error("a warning is no failure")
	}
}
