//go:build unix

package hosts

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestParseProbe checks that the probe's lines are read after output of login scripts, and an invalid path is ignored.
func TestParseProbe(t *testing.T) {
	for out, want := range map[string]ProbeResult{
		"hello\nlongterm-there:system Linux x86_64\nlongterm-there:program /usr/bin/longterm\n": {"linux/amd64", "/usr/bin/longterm"},
		"longterm-there:system Darwin arm64\r\n":                                                {"darwin/arm64", ""},
		"longterm-there:system Linux x86_64\nlongterm-there:program longterm\n":                 {"linux/amd64", ""},
		"longterm-there:system Linux x86_64\nlongterm-there:program /a\x1b[2J\n":                {"linux/amd64", ""},
		"longterm-there:system Plan9 mips\n":                                                    {"Plan9 mips", ""},
	} {
		if got, err := parseProbe("far", out); err != nil || got != want {
			t.Errorf("%q: %+v, %v", out, got, err)
		}
	}
	if _, err := parseProbe("far", "This account is not available.\n"); err == nil || !strings.Contains(err.Error(), "not available") {
		t.Error(err)
	}
}

// TestScripts checks that the scripts contain no character that ends a quoted argument.
func TestScripts(t *testing.T) {
	for _, s := range []string{probeScript, installScript} {
		if strings.ContainsAny(s, "'!") {
			t.Errorf("a quote, or an exclamation mark, in %s", s)
		}
	}
	out, err := exec.Command("sh", "-c", "exec sh -c '"+probeScript+"'").Output()
	if err != nil || !strings.Contains(string(out), outputMark+"system ") {
		t.Errorf("%s, %v", out, err)
	}
}

// TestSSHError checks that the error of an ssh call depends on ssh's message.
func TestSSHError(t *testing.T) {
	ended := exec.Command("sh", "-c", "exit 255").Run()
	for said, want := range map[string]api.Code{
		"ssh: Could not resolve hostname x: Name or service not known": api.CodeHostUnknown,
		"x@y: Permission denied (publickey).":                          api.CodeHostRefused,
		"Host key verification failed.":                                api.CodeHostRefused,
		"ssh: connect to host x port 22: No route to host":             api.CodeUnavailable,
		"": api.CodeUnavailable,
	} {
		var e *api.Error
		if err := sshError("far", ended, said); !errors.As(err, &e) || e.Code != want || !strings.Contains(e.Message, "far") {
			t.Errorf("%q: %v", said, err)
		}
	}
	if sshError("far", nil, "banner") != nil {
		t.Error("got an error of a warning")
	}
}
