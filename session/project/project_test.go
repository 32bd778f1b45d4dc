package project

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// validFile is a valid project file.
const validFile = `
name = "shop"

[[sessions]]
name = "web"
command = ["serve", "-p", "80"]
cwd = "site"
env = ["A=b", "C="]
after = ["db", "migrate"]
ready = ["text=listening", "quiet=2s"]
ready_timeout = "5s"
restart = "on-failure"

[[sessions]]
name = "migrate"
command = "make migrate"
after = ["db"]
ready = "exit"

[[sessions]]
name = "db"
cwd = "/var"
sandbox = "workspace"

[[tabs]]
name = "all"
arrange = "main left"
focus = "db"

[[tabs]]
sessions = ["web"]
`

// FEATURES: R116, R123
func TestDecode(t *testing.T) {
	f, err := Decode("/p/shop", []byte(validFile), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range f.Sessions {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"db", "migrate", "web"}) {
		t.Errorf("order %v", names)
	}
	web := f.Sessions[2]
	if web.Cwd != "/p/shop/site" || web.Timeout != 5*time.Second || web.Restart != RestartOnFailure || len(web.Argv) != 3 || len(web.Ready) != 2 {
		t.Errorf("%+v", web)
	}
	if f.Sessions[0].Cwd != "/var" || f.Sessions[1].Line != "make migrate" || f.SessionName("web") != "shop-web" {
		t.Errorf("%+v", f)
	}
	if len(f.Tabs) != 2 || f.Tabs[0].Focus != "db" || len(f.Tabs[0].Sessions) != 3 {
		t.Errorf("%+v", f.Tabs)
	}
	other, err := Decode("/p/My Shop", []byte("[[sessions]]\nname = 'a'\n"), Options{})
	if err != nil || other.Name != "MyShop" || other.Sessions[0].Definition() == web.Definition() {
		t.Errorf("%+v, %v", other, err)
	}
	if marked, err := Decode("/p/x", []byte("\ufeffname = 'a'\n[[sessions]]\nname = 'a'\n"), Options{}); err != nil || marked.Name != "a" {
		t.Errorf("a byte order mark: %+v, %v", marked, err)
	}
	if last, err := Decode("/p/last", []byte("[[sessions]]\nname = 'a'\n"), Options{}); err != nil || last.Name != "project" {
		t.Errorf("a directory with the reserved name: %+v, %v", last, err)
	}
}

// TestCompareDefinition checks that the command and the ready conditions are compared separately, also with a digest of an
// earlier version.
//
// FEATURES: R116
func TestCompareDefinition(t *testing.T) {
	s := Session{Argv: []string{"serve"}, Ready: []string{"text=up"}}
	probe, command := s, s
	probe.Ready, command.Argv = []string{"text=on"}, []string{"other"}
	const earlier = "4be92f55113f874e"
	for i, c := range []struct {
		s          *Session
		noted      string
		run, ready bool
	}{
		{&s, s.Definition(), false, false},
		{&probe, s.Definition(), false, true},
		{&command, s.Definition(), true, false},
		{&s, earlier, false, false},
		{&probe, earlier, true, true},
		{&s, "", true, true},
	} {
		if run, ready := c.s.CompareDefinition(c.noted); run != c.run || ready != c.ready {
			t.Errorf("%d: %v, %v", i, run, ready)
		}
	}
}

func TestDecode_Errors(t *testing.T) {
	for src, want := range map[string]string{
		"":                           "no sessions; add",
		"[[sessions]]":               ":1:3: sessions: it has no name",
		"[[sessions]]\nname = 3":     ":2:8: name: found",
		"[[sessions]]\nname = 'a b'": ":2:8: name: \"a b\" is no name",
		"name = 'last'\n[[sessions]]\nname = 'a'":              ":1:8: name: \"last\" is what the viewer calls",
		"[[session]]\nname = 'a'":                              `"sessions" is the nearest`,
		"[sessions]\nname = 'a'":                               "write [[sessions]]",
		"nmae = 'x'":                                           `"name" is the nearest`,
		"sessions = [{name = 'a'}]":                            "write [[sessions]]",
		"[[sessions]]\ncomand = 'a'":                           `"command" is the nearest`,
		"[[sessions]]\ncommand = []":                           "it is empty",
		"[[sessions]]\ncommand = ' '":                          "it is empty",
		"[[sessions]]\ncommand = 5":                            "list of texts",
		"[[sessions]]\nenv = ['A']":                            `"A" is no NAME=VALUE`,
		"[[sessions]]\nready = 'qq=1'":                         ":2:9: ready: no such condition",
		"[[sessions]]\nready_timeout = '2h'":                   "no time of at most an hour",
		"[[sessions]]\nrestart = 'often'":                      `unknown value "often" (known: never`,
		"[[sessions]]\nname = 'a'\nafter = ['b']":              `:3:9: after: session "b" not found`,
		"[[sessions]]\nname = 'a'\nafter = ['a']":              "wait for each other",
		"[[sessions]]\nname = 'a'\n[[sessions]]\nname = 'a'":   "comes twice",
		"[[sessions]]\nname = 'a'\n[[tabs]]\nsessions = ['c']": `session "c" not found`,
		"[[sessions]]\nname = 'a'\n[[sessions]]\nname='b'\n[[tabs]]\nsessions=['a']\nfocus='b'": "does not show that",
		"[[sessions]]\nname = 'a'\n[[tabs]]\narrange = 'pile'":                                  `unknown value "pile" (known: tiles`,
		"[[sessions]\n":                          "1:",
		"a = \"\xff\"":                           "no text in UTF-8",
		strings.Repeat("#", MaxFile+1):           "more than",
		strings.Repeat("[[sessions]]\n", 101):    "take out what is not needed",
		strings.Repeat("a.b = 1\n", maxKeys+100): "more than",
	} {
		_, err := Decode("/p", []byte(src), Options{Probe: func(c string) error {
			if strings.HasPrefix(c, "qq") {
				return errors.New("no such condition")
			}
			return nil
		}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), Name) {
			t.Errorf("%.60q: %v; want %s", src, err, want)
		}
	}
}

// TestDecode_ErrorsNameFile checks that errors name the file that was read.
//
// FEATURES: R116
func TestDecode_ErrorsNameFile(t *testing.T) {
	for path, want := range map[string]string{"": "/p/.longterm.toml:1:8: ", "/q/my.toml": "/q/my.toml:1:8: "} {
		if _, err := Decode("/p", []byte("name = 1\n"), Options{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(validFile))
	f.Add([]byte("[[sessions]]\nname = 'a'\nafter = ['a']\n[[tabs]]\nsessions=[]"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Decode("/p", src, Options{})
		if (file == nil) == (err == nil) {
			t.Fatalf("%v and %v", file, err)
		}
		if err != nil {
			return
		}
		done := map[string]bool{}
		for _, s := range file.Sessions {
			for _, a := range s.After {
				if !done[a] {
					t.Fatalf("%s starts before %s", s.Name, a)
				}
			}
			done[s.Name] = true
		}
	})
}
