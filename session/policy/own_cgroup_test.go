package policy

import "testing"

// What stops all processes of a cgroup, longterm's among them perhaps, is asked about under every preset but off; looking
// and limits are not.
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
