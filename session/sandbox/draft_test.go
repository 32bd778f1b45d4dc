package sandbox

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
)

// TestDrafts checks that the writable directories of a profile become drafts: the requested ones instead of $CWD, and
// the profile's own. One inside of another belongs to the outer one. Hooks and configuration of repositories are
// protected, and no mount below a draft makes the host's files writable.
// FEATURES: R124
func TestDrafts(t *testing.T) {
	at := testPlace(t)
	at.Draft = []string{at.Cwd, at.Cwd + "/src"}
	p := profileFor(t, "[p]\nextends = \"workspace\"\nwrite = [\"~/a1\"]\n")
	r, err := p.Resolve(at)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{at.Home + "/a1", at.Cwd}; !slices.Equal(r.DraftDirs(), want) || !slices.Equal(r.Write, want) {
		t.Errorf("drafts %q, writable %q, want %q", r.DraftDirs(), r.Write, want)
	}
	if want := []string{at.Cwd + "/.git/config", at.Cwd + "/.git/hooks", at.Cwd + "/.vscode", at.Cwd + "/sub/.git/hooks"}; !slices.Equal(r.Protect, want) {
		t.Errorf("protected %q, want %q", r.Protect, want)
	}
	for i := range r.Drafts {
		r.Drafts[i].Upper, r.Drafts[i].Work = "/upper", "/work"
	}
	drafts := 0
	for _, m := range r.mounts() {
		switch {
		case m.Kind == confine.MountDraft:
			drafts++
			if m.Upper != "/upper" || m.Work != "/work" {
				t.Errorf("%+v", m)
			}
		case m.Kind == confine.MountWrite:
			t.Errorf("writable past the draft: %+v", m)
		case r.inDraft(m.Path) && !r.isDraft(m.Path) && (m.Kind != confine.MountRead || !m.Optional || drafts < 2):
			t.Errorf("below a draft, after %d drafts: %+v", drafts, m)
		}
	}
	if drafts != 2 {
		t.Errorf("%d drafts", drafts)
	}
	at.Cwd, at.Draft = at.Home, []string{at.Cwd}
	workspace, _ := Builtin("workspace")
	if r, err = workspace.Resolve(at); err != nil || !slices.Equal(r.Write, at.Draft) {
		t.Errorf("started elsewhere: %+v, %v", r, err)
	}
	at.Draft = []string{at.Home}
	if r, err = workspace.Resolve(at); err != nil || !slices.Equal(r.DraftDirs(), at.Draft) {
		t.Errorf("a home directory by its name: %+v, %v", r, err)
	}
}

// FEATURES: R124
func TestDrafts_Refused(t *testing.T) {
	at := testPlace(t)
	workspace, _ := Builtin("workspace")
	for dir, want := range map[string]string{
		"/":                         "whole file system",
		"/proc/sys":                 "the kernel's or the system's own",
		"/dev":                      "the kernel's or the system's own",
		at.OwnDirs[0]:               "which is hidden",
		at.OwnDirs[0] + "/sessions": "which is hidden",
		at.Home + "/.bashrc":        "no directory",
		at.Home + "/none":           "no such file",
	} {
		at.Draft = []string{dir}
		_, err := workspace.Resolve(at)
		var wrong *PathError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || wrong.Hint() == "" {
			t.Errorf("%s: %v, want %s", dir, err, want)
		}
	}
	userns, none := Features{Landlock: 9}, Features{Landlock: 9, Userns: errors.New("not allowed")}
	for _, l := range []Level{Landlock, Bwrap, Docker, Podman} {
		if _, err := (&Profile{Level: l}).ChooseDraft(userns); err == nil || !strings.Contains(err.Error(), "keeps no changes apart") {
			t.Errorf("%s: %v", l, err)
		}
	}
	var wrong *LevelError
	if l, err := (&Profile{}).ChooseDraft(none); !errors.As(err, &wrong) || wrong.Hint() == "" {
		t.Errorf("without namespaces: %s, %v", l, err)
	}
	if l, err := (&Profile{}).ChooseDraft(userns); err != nil || l != Userns {
		t.Errorf("%s, %v", l, err)
	}
}

// TestDraftLimits checks that DraftLimits lists what a draft does not keep.
//
// FEATURES: R124
func TestDraftLimits(t *testing.T) {
	quiet := strings.Join((&Rules{Network: NetworkOff}).DraftLimits(), "; ")
	open := strings.Join((&Rules{Network: NetworkHosts, Hosts: []string{"a.b"}, UnixSockets: true, PrivateTmp: true}).DraftLimits(), "; ")
	for _, text := range []string{"network: to a.b", "docker", "/tmp"} {
		if strings.Contains(quiet, text) || !strings.Contains(open, text) {
			t.Errorf("%s: %s | %s", text, quiet, open)
		}
	}
	if !strings.Contains(quiet, "locks") || strings.Contains(quiet, "size") {
		t.Error(quiet)
	}
	if sized := (&Rules{DraftSize: 1}).DraftLimits(); !strings.Contains(strings.Join(sized, "; "), "pass the limit") {
		t.Error(sized)
	}
}

// TestDraftSize checks that the limit of a draft's size is the requested one, or else the profile's. Without a draft
// there is none.
//
// FEATURES: R124
func TestDraftSize(t *testing.T) {
	at := testPlace(t)
	p := profileFor(t, "[p]\nextends = \"workspace\"\ndraft_size = 1000000\n")
	for _, c := range []struct {
		drafts     []string
		size, want int64
	}{
		{[]string{at.Cwd}, 0, 1_000_000},
		{[]string{at.Cwd}, 5_000_000, 5_000_000},
		{nil, 0, 0},
	} {
		at.Draft, at.DraftSize = c.drafts, c.size
		r, err := p.Resolve(at)
		if err != nil {
			t.Fatal(err)
		}
		var spec confine.Spec
		if err := r.Confine(&spec, Userns, ProxyConfig{}); err != nil {
			t.Fatal(err)
		}
		if r.DraftSize != c.want || spec.Sandbox.Namespaces.DraftSize != c.want {
			t.Errorf("drafts %q, size %d: limit %d and %d, want %d", c.drafts, c.size, r.DraftSize, spec.Sandbox.Namespaces.DraftSize, c.want)
		}
	}
}
