package fastpath

import (
	"runtime/debug"
	"strings"
	"testing"
)

// TestVersionOf checks that this package reads the same version as package runtime/debug.
func TestVersionOf(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); !ok || !strings.Contains(modinfo(), info.Main.Path) {
		t.Errorf("%q is not the version of %v", modinfo(), info)
	}
	const mark = "0123456789abcdef"
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{}, "devel"},
		{debug.BuildInfo{Main: debug.Module{Path: "m", Version: "v1.2.3", Sum: "h1:x"}}, "v1.2.3"},
		{debug.BuildInfo{Path: "m/cmd/longterm", Main: debug.Module{Path: "m", Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}}, "devel-0123456789ab"},
		{debug.BuildInfo{Main: debug.Module{Path: "m", Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "012"}, {Key: "vcs.modified", Value: "true"}}}, "devel-012-dirty"},
		{debug.BuildInfo{Main: debug.Module{Path: "m", Version: "(devel)"}, Deps: []*debug.Module{{Path: "d", Version: "v9.9.9"}}, Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: "false"}}}, "devel"},
	} {
		_, lines, _ := strings.Cut(c.info.String(), "go\t") // Go's version is stored elsewhere
		if _, rest, ok := strings.Cut(lines, "\n"); ok {
			lines = rest
		} else {
			lines = c.info.String()
		}
		if got := versionOf(mark + lines + mark); got != c.want {
			t.Errorf("%q of %q, want %q", got, lines, c.want)
		}
	}
	for _, s := range []string{"", mark, mark + mark[:15]} {
		if got := versionOf(s); got != "unknown" {
			t.Errorf("%q of %q", got, s)
		}
	}
	if got := versionOf(mark + "mod\nbuild\nbuild\tvcs.revision\n\t\n\n" + mark); got != "devel" {
		t.Error(got)
	}
}
