// Package topics prints pages of the documentation in a terminal.
//
// All lists the topics: a name and a page of docs/ each. Render converts a page's Markdown to text of a given width. It
// knows the elements that these pages use (headings, paragraphs, lists, tables, code) and prints anything else
// unchanged.
package topics

import (
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/docs"
)

// Topic is a documentation page that `longterm help` prints.
type Topic struct {
	Name  string // what `longterm help` takes; also the page's file name without .md
	Short string // one line for the list
}

// All holds the topics in the order of README's links.
var All = []Topic{
	{"tour", "First steps with sessions, commands and the viewer"},
	{"viewer", "Keys, panes, tabs and panels of the viewer"},
	{"attach", "Attaching a terminal, sizes, several people"},
	{"web", "Sessions in a browser and on a phone"},
	{"from-tmux", "tmux's keys and commands, and their counterparts"},
	{"from-zellij", "zellij's keys and commands, and their counterparts"},
	{"exit-status", "Exit statuses and their meanings"},
	{"errors", "Errors as JSON, exit statuses in results"},
	{"expect", "Answering questions of programs, scripts of dialogues"},
	{"from-scripts", "Programs with pexpect or tmux, and the same with longterm"},
	{"tapes", "Pictures made by a script"},
	{"pictures", "Pictures of screens and histories"},
	{"completions", "Events: what ended, delivered once"},
	{"files", "Files in and out of sessions"},
	{"watching", "Running commands again on changes, build errors"},
	{"ci", "Commands of CI jobs: annotations, summaries, JUnit"},
	{"why", "Why a command failed, by a good run of it"},
	{"projects", "Sessions of a project in one file"},
	{"ports", "Servers in sessions: their ports, in the browser"},
	{"transcript", "Output of full-screen programs as text"},
	{"mcp", "Tools for agents by the Model Context Protocol"},
	{"agent-sessions", "Agents in sessions: states, tasks, conversations"},
	{"policy", "Rules for what agents may run"},
	{"executions", "Checking programs as they are executed"},
	{"approvals", "Approval requests and how to answer them"},
	{"inbox", "What needs your attention, in one list"},
	{"web-push", "The inbox as notifications with answers, on a phone or browser"},
	{"sandbox", "Limiting what a command can read, write and reach"},
	{"drafts", "File changes kept apart, then committed or discarded"},
	{"secrets", "Redacting secrets in output"},
	{"audit", "The log of requests, decisions and actions"},
	{"worktrees", "Sessions in git worktrees; several attempts at one task"},
	{"overnight", "A guide: letting an agent work overnight"},
	{"config", "Configuration keys and their defaults"},
	{"hosts", "Sessions on other machines over ssh"},
	{"fleet", "Sessions of many machines in one place"},
	{"tmux-compat", "tmux commands that longterm answers"},
	{"install", "Installing, upgrading and removing longterm"},
}

// Find returns the topic of a name.
func Find(name string) (Topic, bool) {
	for _, t := range All {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}

// Page returns a topic's page as text. Lines are at most width cells long, except for long words and code.
func (t Topic) Page(width int, bold bool) (string, error) {
	src, err := docs.Pages.ReadFile(t.Name + ".md")
	if err != nil {
		return "", fmt.Errorf("page of topic %q: %w", t.Name, err)
	}
	return Render(string(src), width, bold), nil
}

// List returns all topics, one a line.
func List() string {
	var b strings.Builder
	for _, t := range All {
		fmt.Fprintf(&b, "  %-15s %s\n", t.Name, t.Short)
	}
	return b.String()
}
