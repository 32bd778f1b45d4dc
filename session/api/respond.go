package api

import "time"

// RespondRule is a pattern and what to reply when it appears.
type RespondRule struct {
	Name       string         `json:"name,omitempty" maxLength:"128" doc:"unique among the session's rules; to remove it by"`
	Text       string         `json:"text,omitempty" doc:"looked for as it stands; this or regexp"`
	Regexp     string         `json:"regexp,omitempty" doc:"RE2; matches within one line"`
	On         string         `json:"on,omitempty" enum:"output,prompt,screen,cursor" doc:"where to look: unread output (default), its unfinished line only, the screen, or the screen's line with the cursor"`
	Region     *RespondRegion `json:"region,omitempty" doc:"of the screen"`
	Reply      []RespondReply `json:"reply" minItems:"1"`
	Max        int            `json:"max,omitempty" minimum:"0" doc:"times it may be used; 0: no limit"`
	TimeoutMS  int64          `json:"timeout_ms,omitempty" minimum:"0" doc:"to be used for the first time"`
	CooldownMS int64          `json:"cooldown_ms,omitempty" minimum:"0" doc:"rest after each use"`
	Force      bool           `json:"force,omitempty" doc:"send secrets even while they are shown"`
	After      bool           `json:"after,omitempty" doc:"wait until the rule before was used as often as its max says, or once"`
}

// RespondRegion is a part of the screen, in cells, 0-based; ends are exclusive, 0 is the
// screen's end.
type RespondRegion struct {
	Top    int `json:"top,omitempty" minimum:"0"`
	Bottom int `json:"bottom,omitempty" minimum:"0"`
	Left   int `json:"left,omitempty" minimum:"0"`
	Right  int `json:"right,omitempty" minimum:"0"`
}

// RespondReply is one thing to do when a rule fires.
type RespondReply struct {
	Kind   string `json:"kind" enum:"text,keys,secret,hook,fail,wait"`
	Value  string `json:"value,omitempty" doc:"text to type, keys as in yes<Enter>, reference to a secret, command line of a hook, or reason of a failure"`
	WaitMS int64  `json:"wait_ms,omitempty" minimum:"0" doc:"of wait"`
}

// RespondRules are rules to attach to a session or a call.
type RespondRules struct {
	Rules   []RespondRule `json:"rules" minItems:"1" maxItems:"256"`
	Ordered bool          `json:"ordered,omitempty" doc:"each waits for the one before it"`
	// Secrets has the values of env: references, which are the client's to know.
	Secrets map[string]string `json:"secrets,omitempty" doc:"value by reference, for each env:NAME; kept in memory only, until the daemon ends"`
}

// RespondAttached is a rule of a session.
type RespondAttached struct {
	RespondRule
	ID     string    `json:"id"`
	Uses   int       `json:"uses" doc:"times it has fired"`
	Added  time.Time `json:"added"`
	Call   bool      `json:"call,omitempty" doc:"it ends with the line that it was given for"`
	Failed string    `json:"failed,omitempty" doc:"why it does not answer any more"`
}

// RespondFiring is what a rule did, or could not do. Secrets are references here.
type RespondFiring struct {
	Time   time.Time      `json:"time"`
	Rule   string         `json:"rule" doc:"id"`
	Name   string         `json:"name,omitempty"`
	On     string         `json:"on,omitempty"`
	Offset uint64         `json:"offset" doc:"of the output then"`
	Match  string         `json:"match,omitempty"`
	Use    int            `json:"use,omitempty" doc:"the how manieth it was"`
	Reply  []RespondReply `json:"reply,omitempty" doc:"captures filled in; what was typed unseen is [hidden]"`
	Error  string         `json:"error,omitempty" doc:"why it failed, or a reply was not sent"`
}
