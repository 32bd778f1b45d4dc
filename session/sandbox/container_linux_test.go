//go:build containers

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestContainer checks that real docker and podman accept the arguments: the project is written as the user, credentials are only read, and other
// files of the home directory are absent. The image is one of busybox, made here.
//
// FEATURES: R67
func TestContainer(t *testing.T) {
	for _, l := range []Level{Docker, Podman} {
		t.Run(string(l), func(t *testing.T) {
			tier.Full(t)
			tool, busybox := tier.Path(t, l.Tool()), tier.Path(t, "busybox")
			if out, err := exec.Command(tool, "info").CombinedOutput(); err != nil {
				t.Skipf("the service of %s does not answer: %v: %s", l, err, out)
			}
			home, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			image, cwd := filepath.Join(home, "image"), filepath.Join(home, "work")
			for _, dir := range []string{filepath.Join(image, "bin"), cwd, filepath.Join(home, ".aws"), filepath.Join(home, ".ssh")} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, key := range []string{".aws/key", ".ssh/key"} {
				if err := os.WriteFile(filepath.Join(home, key), []byte(key+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			const name = "longterm-test-busybox"
			load := exec.Command("/bin/sh", "-c", `cp "$1" bin/busybox && ln -sf busybox bin/sh && tar c . | "$2" import - "$3"`, "sh", busybox, tool, name)
			load.Dir = image
			if out, err := load.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Cleanup(func() { _ = exec.Command(tool, "rmi", name).Run() })
			p := Profile{Level: l, Image: name, Write: []string{"$CWD"}, Credentials: []string{"aws"}, Network: NetworkOff}
			r, err := p.Resolve(Place{Home: home, Cwd: cwd})
			if err != nil {
				t.Fatal(err)
			}
			script := `echo made >file; read key <` + home + `/.aws/key; echo "$key $VARIABLE"; (echo x >` + home + `/.aws/key) 2>/dev/null || echo kept; (read key <` + home + `/.ssh/key) 2>/dev/null || echo absent`
			argv, err := r.Command(l, &p, []string{"/bin/sh", "-c", script}, []string{"VARIABLE=passed"}, true)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(tool, argv[1:]...)
			cmd.Env = append(os.Environ(), "VARIABLE=passed")
			out, err := cmd.CombinedOutput()
			if want := ".aws/key passed\nkept\nabsent\n"; err != nil || !strings.HasSuffix(string(out), want) {
				t.Errorf("%v: %s; want %s", err, out, want)
			}
			if made, err := os.ReadFile(filepath.Join(cwd, "file")); err != nil || string(made) != "made\n" {
				t.Errorf("the project has %q, %v", made, err)
			}
		})
	}
}
