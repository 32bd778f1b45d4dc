package bench

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// agentCorpus is the text of corpus/agent.toml.
//
//go:embed corpus/agent.toml
var agentCorpus string

// agentLineShells are the shells of the corpus of agents' lines.
var agentLineShells = []string{"bash", "zsh", "fish", "dash"}

// agentLines is the corpus of lines as agents write them; its form is explained in corpus/agent.toml.
type agentLines struct {
	Files map[string]string `toml:"files"`
	Lines []agentLine       `toml:"lines"`
}

// agentLine is a shell line as agents write it, with its expected status, output and verdicts. corpus/agent.toml
// explains the fields.
type agentLine struct {
	Name   string   `toml:"name"`
	Shells string   `toml:"shells"`
	Line   string   `toml:"line"`
	Status int      `toml:"status"`
	Output string   `toml:"output"`
	Run    *bool    `toml:"run"`
	Alone  bool     `toml:"alone"`
	Needs  []string `toml:"needs"`
	Hard   string   `toml:"hard"`
	Build  string   `toml:"build"`
	Why    string   `toml:"why"`
}

// parseAgentLines reads the corpus of agents' lines.
func parseAgentLines(text string) (*agentLines, error) {
	var c agentLines
	d := toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("corpus of agents' lines: %w", err)
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		l.Line = strings.TrimSuffix(l.Line, "\n")
		if l.Name == "" || l.Line == "" || len(l.shells()) == 0 {
			return nil, fmt.Errorf("corpus of agents' lines: line %d (%q) has no name, shells or line", i+1, l.Name)
		}
	}
	return &c, nil
}

// shells returns the shells in which l is valid.
func (l *agentLine) shells() []string {
	switch l.Shells {
	case "all":
		return agentLineShells
	case "posix":
		return []string{"bash", "zsh", "dash"}
	}
	return strings.Fields(l.Shells)
}

// canRun reports whether l may be executed; other lines are only judged.
func (l *agentLine) canRun() bool { return l.Run == nil || *l.Run }

// verdict returns the right verdict about l under a preset.
func (l *agentLine) verdict(preset string) string {
	v := map[string]string{"hard": l.Hard, "build": l.Build}[preset]
	if v == "" {
		return "allow"
	}
	return v
}

// examples returns the examples on which the policy engine is scored: each line in each of its shells, under hard and build.
func (c *agentLines) examples() (list []policyExample) {
	for _, l := range c.Lines {
		for _, shell := range l.shells() {
			for _, preset := range []string{"hard", "build"} {
				x := policyExample{Cmd: l.Line, Policy: preset, Accept: []string{l.verdict(preset)}, Tier: preset, Shell: shell, name: l.Name}
				if shell == "dash" {
					x.Shell = "sh"
				}
				if x.Accept[0] != "allow" { // a denial is stricter than a question; either stops it
					x.Accept = []string{"ask", "deny"}
				}
				list = append(list, x)
			}
		}
	}
	return list
}

// writeFiles writes the corpus's files into a directory.
func (c *agentLines) writeFiles(dir string) error {
	for name, text := range c.Files {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// plainOutput normalizes output for comparison: it removes shells' job notices and empty lines at the end, and
// collapses blanks.
func plainOutput(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) > 0 && len(words[0]) > 2 && words[0][0] == '[' && strings.Trim(words[0], "[0123456789]+-") == "" {
			continue
		}
		lines = append(lines, strings.Join(words, " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = slices.Delete(lines, len(lines)-1, len(lines))
	}
	return strings.Join(lines, "\n")
}
