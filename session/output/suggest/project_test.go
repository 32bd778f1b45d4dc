package suggest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Next steps after a successful command come from the directory's files and its earlier commands, at most three.
//
// FEATURES: R29
func TestSuggest_NextSteps(t *testing.T) {
	changed := time.Unix(1000, 0)
	after, before := changed.Add(time.Second), changed.Add(-time.Second)
	scripts := &Targets{NPM: []string{"dev", "start", "test"}}
	targets := &Targets{Make: []string{"all", "test", "run", "clean", "deploy-prod", "docs", "obj/x.o"}}
	for _, c := range []struct {
		name, line, files string
		targets           *Targets
		project           *Project
		want              string
	}{
		{"clone", "git clone --depth 1 https://example.org/a/web.git", "", nil, &Project{Cloned: []string{"README.md", "package.json", "package-lock.json"}}, "cd web | cd web && npm ci | less web/README.md"},
		{"clone to a name with a blank", "git clone -b main git@example.org:a/web 'my web'", "", nil, &Project{Cloned: []string{"go.mod"}}, "cd 'my web' | cd 'my web' && go build ./..."},
		{"clone with a makefile", "gh repo clone a/tool -- --depth 1", "", nil, &Project{Cloned: []string{"Makefile"}}, "cd tool | cd tool && make"},
		{"clone that is elsewhere", "git clone https://example.org/a/web", "", nil, &Project{}, ""},
		{"installed", "npm install", "package.json node_modules", scripts, &Project{}, "npm run dev | npm test | npm start"},
		{"installed by another program", "pnpm i", "package.json pnpm-lock.yaml node_modules", scripts, &Project{}, "pnpm run dev | pnpm run test | pnpm run start"},
		{"installed by yarn", "yarn", "package.json yarn.lock node_modules", scripts, &Project{}, "yarn run dev | yarn run test | yarn run start"},
		{"not installed", "cd web", "package.json yarn.lock", scripts, &Project{}, "yarn install"},
		{"makefile", "git pull", "Makefile", targets, &Project{}, "make test | make run | make all"},
		{"targets that were made", "ls", "Makefile", targets, &Project{Changed: changed, Runs: []Run{{"make run", after}, {"make test", after}, {"make all", before}}}, "make all | make docs"},
		{"go.mod", "cd tool", "go.mod", &Targets{}, &Project{Changed: changed}, "go build ./..."},
		{"go.mod with tests", "cd tool", "go.mod", &Targets{}, &Project{Changed: changed, HasTests: true}, "go test ./... | go build ./..."},
		{"built and tested", "go test ./...", "go.mod", &Targets{}, &Project{Changed: changed, HasTests: true, Runs: []Run{{"go test ./...", after}, {"go build ./x", after}}}, ""},
		{"changed since", "git pull", "go.mod", &Targets{}, &Project{Changed: changed, HasTests: true, Runs: []Run{{"go test ./p -run X", before}, {"go build ./...", after}}}, "go test ./p -run X"},
		{"changed since, and the line is special", "git pull", "go.mod", &Targets{}, &Project{Changed: changed, HasTests: true, Runs: []Run{{"go test $(reboot)", before}, {"go build ./...", after}}}, "go test ./..."},
		{"tests of npm", "git pull", "package.json node_modules", &Targets{NPM: []string{"test"}}, &Project{Changed: changed}, "npm test"},
		{"tests of python", "git pull", "pyproject.toml", &Targets{}, &Project{Changed: changed, HasTests: true}, "pytest"},
		{"cargo", "git pull", "Cargo.toml", &Targets{}, &Project{Changed: changed}, "cargo test | cargo build"},
		{"no project", "ls -d .", "notes.txt", &Targets{}, &Project{Changed: changed, HasTests: true}, ""},
		{"facts unknown", "git pull", "go.mod Makefile", targets, nil, ""},
	} {
		zero := 0
		var got []string
		for _, s := range Suggest(Context{Line: c.line, Result: diagnostics.Parse(c.line, &zero, ""), Files: strings.Fields(c.files), Targets: c.targets, Project: c.project}) {
			got = append(got, s.Command)
			if s.Rule == "" || s.Reason == "" {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, strings.Join(got, " | "), c.want)
		}
	}
}

// FEATURES: R29
func TestClonedInto(t *testing.T) {
	for line, want := range map[string]string{
		"git clone https://example.org/a/web.git":        "web",
		"git clone https://example.org/a/web/":           "web",
		"git clone example.org:web":                      "web",
		"git clone /srv/web/.git":                        "web",
		"git clone -o up -- https://example.org/a/b c":   "c",
		"git clone --branch=x --recursive ../web /tmp/w": "/tmp/w",
		"git clone --bare https://example.org/a/web":     "",
		"git clone":                              "",
		"git clone ..":                           "",
		"git -C x clone y":                       "",
		"git pull":                               "",
		"gh repo clone a/b":                      "b",
		"gh repo clone a/b c -- --depth 1":       "c",
		"sudo git clone https://example.org/web": "web",
	} {
		if got := ClonedInto(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Each file of a build system has a command and a place in the order.
func TestSetups(t *testing.T) {
	if len(setups) != len(setupOrder) {
		t.Errorf("%d commands, %d files", len(setups), len(setupOrder))
	}
	for _, f := range setupOrder {
		if setups[f] == "" || !IsProject([]string{f}) {
			t.Errorf("%s has no command", f)
		}
	}
	if IsProject([]string{"notes.txt"}) || !IsProject([]string{"a", "GNUmakefile"}) {
		t.Error("wrong project")
	}
	if slices.ContainsFunc(usualTargets, func(u string) bool { return slices.Contains(riskyWords, u) }) {
		t.Error("a usual target is risky")
	}
}
