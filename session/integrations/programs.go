package integrations

import (
	"cmp"
	"os"
	"path/filepath"
)

// Events that agent programs report, as the argument of `longterm agent hook`.
const (
	onPrompt       = "prompt"       // the user submitted a prompt: it works
	onPermission   = "permission"   // it asks whether it may
	onNotification = "notification" // it wants to be looked at
	onStop         = "stop"         // the task is done
)

// programs are the programs that longterm can be put into. Where each has its configuration: its own documentation.
var programs = []Program{
	{
		Name: "claude", Title: "Claude Code",
		files: func(p Place) []file {
			dir := cmp.Or(p.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(p.Home, ".claude"))
			state := filepath.Join(p.Home, ".claude.json")
			if p.Getenv("CLAUDE_CONFIG_DIR") != "" {
				state = filepath.Join(dir, ".claude.json")
			}
			return []file{
				{state, server{path: []string{"mcpServers"}, entry: stdioEntry}},
				{filepath.Join(dir, "settings.json"), hooks{events: []event{
					{"UserPromptSubmit", onPrompt}, {"PermissionRequest", onPermission}, {"Notification", onNotification}, {"Stop", onStop},
				}}},
				skillFile(dir),
			}
		},
	},
	{
		Name: "codex", Title: "Codex", Note: "Codex runs a hook once you have trusted it: type /hooks in it.",
		files: func(p Place) []file {
			dir := cmp.Or(p.Getenv("CODEX_HOME"), filepath.Join(p.Home, ".codex"))
			return []file{
				{filepath.Join(dir, "config.toml"), tomlServer{}},
				{filepath.Join(dir, "hooks.json"), hooks{events: []event{
					{"UserPromptSubmit", onPrompt}, {"PermissionRequest", onPermission}, {"Stop", onStop},
				}}},
				skillFile(dir),
			}
		},
	},
	{
		Name: "gemini", Title: "Gemini CLI",
		files: func(p Place) []file {
			dir := filepath.Join(p.Home, ".gemini")
			return []file{
				{filepath.Join(dir, "settings.json"), editorPair{
					server{path: []string{"mcpServers"}, entry: plainEntry},
					hooks{matcher: "*", events: []event{
						{"BeforeAgent", onPrompt}, {"Notification", onNotification}, {"AfterAgent", onStop},
					}},
				}},
				skillFile(dir),
			}
		},
	},
	{
		Name: "kimi", Title: "Kimi Code",
		files: func(p Place) []file {
			dir := kimiDir(p)
			return []file{
				{filepath.Join(dir, "mcp.json"), server{path: []string{"mcpServers"}, entry: plainEntry}},
				{filepath.Join(dir, "config.toml"), tomlHooks{events: []event{ // events that all its versions know: any other is an error there
					{"UserPromptSubmit", onPrompt}, {"Notification", onNotification}, {"Stop", onStop},
				}}},
				skillFile(dir),
			}
		},
	},
	{
		Name: "opencode", Title: "opencode",
		files: func(p Place) []file {
			dir := filepath.Join(configHome(p), "opencode")
			name := "opencode.json"
			if exists(filepath.Join(dir, "opencode.jsonc")) {
				name = "opencode.jsonc"
			}
			return []file{
				{filepath.Join(dir, name), server{path: []string{"mcp"}, entry: opencodeEntry, schema: "https://opencode.ai/config.json"}},
				{filepath.Join(dir, "plugins", "longterm.js"), whole{opencodePlugin}},
				skillFile(dir),
			}
		},
	},
	{
		Name: "vscode", Title: "Visual Studio Code", Note: "Its agents work in an editor, not in a terminal: no hooks.",
		files: func(p Place) []file {
			dir := filepath.Join(configHome(p), "Code", "User")
			switch p.OS {
			case "darwin":
				dir = filepath.Join(p.Home, "Library", "Application Support", "Code", "User")
			case "windows":
				dir = filepath.Join(cmp.Or(p.Getenv("APPDATA"), filepath.Join(p.Home, "AppData", "Roaming")), "Code", "User")
			}
			return []file{
				{filepath.Join(dir, "mcp.json"), server{path: []string{"servers"}, entry: stdioEntry}},
				skillFile(filepath.Join(p.Home, ".copilot")),
			}
		},
	},
	{
		Name: "zed", Title: "Zed", Note: "Its agents work in an editor, not in a terminal: no hooks.",
		files: func(p Place) []file {
			dir := filepath.Join(configHome(p), "zed")
			switch p.OS {
			case "darwin":
				dir = filepath.Join(p.Home, ".config", "zed")
			case "windows":
				dir = filepath.Join(cmp.Or(p.Getenv("APPDATA"), filepath.Join(p.Home, "AppData", "Roaming")), "Zed")
			}
			return []file{
				{filepath.Join(dir, "settings.json"), server{path: []string{"context_servers"}, entry: zedEntry}},
				skillFile(filepath.Join(p.Home, ".agents")),
			}
		},
	},
}

func configHome(p Place) string {
	return cmp.Or(p.Getenv("XDG_CONFIG_HOME"), filepath.Join(p.Home, ".config"))
}

// kimiDir returns the directory of Kimi Code, or of the older Kimi CLI if only that exists.
func kimiDir(p Place) string {
	if dir := p.Getenv("KIMI_CODE_HOME"); dir != "" {
		return dir
	}
	now, older := filepath.Join(p.Home, ".kimi-code"), filepath.Join(p.Home, ".kimi")
	if !exists(now) && exists(older) {
		return older
	}
	return now
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Entries of the server, as each program writes them.

type commandEntry struct {
	Type    string   `json:"type,omitempty"`
	Source  string   `json:"source,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func plainEntry(p Place) any { return commandEntry{Command: p.Command, Args: []string{"mcp"}} }

func stdioEntry(p Place) any {
	return commandEntry{Type: "stdio", Command: p.Command, Args: []string{"mcp"}}
}

func zedEntry(p Place) any {
	return commandEntry{Source: "custom", Command: p.Command, Args: []string{"mcp"}}
}

func opencodeEntry(p Place) any {
	return struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}{"local", []string{p.Command, "mcp"}, true}
}
