package integrations

import _ "embed"

// SkillText is how longterm is used by a model that only has a shell.
//
//go:embed skill.md
var SkillText string
