package sys

import (
	"path/filepath"
	"strings"
	"testing"
)

const (
	unified = "35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	hybrid  = "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n"
)

// FEATURES: R97
func TestParseCgroup(t *testing.T) {
	for _, c := range []struct{ name, mounts, self, want string }{
		{"systemd", unified, "0::/user.slice/user-1000.slice/a.scope\n", "/sys/fs/cgroup/user.slice/user-1000.slice/a.scope"},
		{"hybrid", hybrid, "4:memory:/x\n0::/\n", "/sys/fs/cgroup/unified"},
		{"version 1 only", "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "4:memory:/x\n", ""},
		{"not mounted", "", "0::/\n", ""},
		{"a container's part", "35 24 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n", "0::/docker/abc/x\n", "/sys/fs/cgroup/x"},
		{"another part", "35 24 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n", "0::/other\n", ""},
		{"outside the namespace", unified, "0::/../other\n", ""},
		{"spaces", `35 24 0:30 / /my\040cgroups rw - cgroup2 cgroup2 rw` + "\n", "0::/a b\n", "/my cgroups/a b"},
	} {
		got, err := parseCgroup([]byte(c.mounts), []byte(c.self))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func FuzzParseCgroup(f *testing.F) {
	f.Add([]byte(unified), []byte("0::/a\n"))
	f.Add([]byte(hybrid), []byte("4:memory:/x\n0::/\n"))
	f.Add([]byte("1 2 3 ../.. / - cgroup2 x y"), []byte("0::/../../x"))
	f.Fuzz(func(t *testing.T, mounts, self []byte) {
		if dir, err := parseCgroup(mounts, self); err == nil && strings.Contains("/"+filepath.ToSlash(dir)+"/", "/../") {
			t.Errorf("%q", dir)
		}
	})
}

func TestMountsBelow(t *testing.T) {
	const mounts = "20 1 8:1 / / rw - ext4 /dev/a rw\n21 20 0:5 / /p rw - tmpfs t rw\n22 21 0:6 / /p/a\\040b rw - tmpfs t rw\n23 20 0:7 / /pq rw - tmpfs t rw\n24 22 0:6 / /p/a\\040b rw - tmpfs t rw\n"
	for dir, want := range map[string]string{"/p": "/p/a b", "/p/a b": "", "/": "/p,/p/a b,/pq", "/none": ""} {
		if got := strings.Join(mountsBelow([]byte(mounts), dir), ","); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
