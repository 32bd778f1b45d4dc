package confine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Enter()
	if len(os.Args) == 2 && os.Args[1] == "probe" {
		if err := Probe(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// FEATURES: R107
func TestCommand(t *testing.T) {
	s := Spec{Path: "/bin/x", Executions: ExecutionsRequired, Calls: []Call{{Name: "socket", Args: []Arg{{Mask: ^uint64(0), Value: 40}}}}}
	argv, env, err := s.Command([]string{"x", "", "a b"}, []string{"A=1", specVariable + "=of somebody else"})
	if err != nil {
		t.Fatal(err)
	}
	got, rest, ok, err := ownSpec(argv, env)
	if !ok || err != nil || got.Path != s.Path || got.Executions != s.Executions || len(got.Calls) != 1 || got.Calls[0].Args[0] != s.Calls[0].Args[0] {
		t.Errorf("%+v, %v, %v", got, ok, err)
	}
	if !slices.Equal(rest, []string{"x", "", "a b"}) || len(env) != 2 || env[0] != "A=1" {
		t.Errorf("argv %q, environment %q", rest, env)
	}
	s.Calls[0].Name = strings.Repeat("x", 200<<10)
	if _, _, err := s.Command(argv, env); err == nil || !strings.Contains(err.Error(), "fewer") {
		t.Errorf("too large: %v", err)
	}
}

// TestOwnSpec_NotConfined checks that a process that was not started by Command has no spec.
func TestOwnSpec_NotConfined(t *testing.T) {
	good := specVariable + `={"path":"/bin/true"}`
	for name, c := range map[string]struct {
		args, env []string
		ok        bool
		err       string
	}{
		"entered":      {[]string{arg0, arg1, "x"}, []string{"A=1", good}, true, ""},
		"no variable":  {[]string{arg0, arg1, "x"}, []string{"A=1"}, false, ""},
		"another name": {[]string{"bash", arg1, "x"}, []string{good}, false, ""},
		"a verb":       {[]string{arg0, "ls", "x"}, []string{good}, false, ""},
		"no argv":      {[]string{arg0, arg1}, []string{good}, false, ""},
		"no spec":      {[]string{arg0, arg1, "x"}, []string{specVariable + "=x"}, true, "invalid"},
		"no program":   {[]string{arg0, arg1, "x"}, []string{specVariable + "={}"}, true, "no program"},
	} {
		_, _, ok, err := ownSpec(c.args, c.env)
		if ok != c.ok || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}
