package integrations

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
)

// whole is a file that is ours alone.
type whole struct{ text func(Place) string }

// mark is in every file that is ours alone; what has it may be replaced and removed.
const mark = "longterm agent install"

func (w whole) install(p Place, old []byte) ([]byte, []string, error) {
	if old != nil && !bytes.Contains(old, []byte(mark)) {
		return nil, nil, errors.New("this file belongs to another program; move it away")
	}
	return []byte(w.text(p)), nil, nil
}

func (w whole) remove(_ Place, old []byte) ([]byte, []string, error) {
	if !bytes.Contains(old, []byte(mark)) {
		return old, nil, nil
	}
	return nil, nil, nil
}

// skillFile returns the skill file below a program's directory.
func skillFile(dir string) file {
	return file{filepath.Join(dir, "skills", entryName, "SKILL.md"), whole{skill}}
}

func skill(p Place) string {
	return "---\nname: longterm\ndescription: Persistent terminals. Use for commands that run long, wait for input, or have to " +
		"survive this conversation (dev servers, builds, REPLs, ssh), instead of a background shell, tmux or polling.\n---\n" +
		"<!-- written by `" + mark + "` -->\n\n" +
		"With the MCP tools of longterm use these. Without them use the shell:\n\n" + p.Skill
}

// opencodePlugin returns a plugin that reports opencode's events.
func opencodePlugin(p Place) string {
	command, _ := json.Marshal(p.Command) // a text can always be written
	return strings.ReplaceAll(`// written by "longterm agent install opencode"; "longterm agent install opencode --undo" removes it
import { spawn } from "node:child_process"

const words = {
  "session.idle": "stop",
  "session.error": "notification",
  "permission.asked": "permission",
  "permission.updated": "permission",
}

function tell(word, payload) {
  const hook = spawn(COMMAND, ["agent", "hook", word], { stdio: ["pipe", "ignore", "ignore"] })
  hook.on("error", () => {}) // longterm is gone: opencode is not to notice
  hook.stdin.on("error", () => {})
  hook.stdin.end(JSON.stringify(payload))
}

export const Longterm = async () => ({
  event: async ({ event }) => {
    if (words[event.type]) tell(words[event.type], event)
  },
  "chat.message": async (input) => tell("prompt", input),
})
`, "COMMAND", string(command))
}
