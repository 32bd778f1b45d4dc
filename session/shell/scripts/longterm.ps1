# Shell integration for PowerShell 5.1 and 7: marks around commands, the directory and
# the environment at each prompt. It runs after the profiles (pwsh -NoExit -File), wraps
# the prompt function that they left, and PSReadLine's reading of a line.

$Global:__LongtermNonce = ''
$Global:__LongtermState = $env:LONGTERM_STATE
$Global:__LongtermHost = $env:LONGTERM_HOST
Remove-Item -ErrorAction Ignore Env:LONGTERM_STATE, Env:LONGTERM_HOST
try { # once: it is gone after
    $__LongtermFile = [System.IO.Path]::Combine($Global:__LongtermState, 'nonce')
    $Global:__LongtermNonce = [System.IO.File]::ReadAllText($__LongtermFile).Trim()
    [System.IO.File]::WriteAllText($__LongtermFile, '')
} catch { }

if ($Global:__LongtermNonce) {
    $Global:__LongtermCount = 0
    $Global:__LongtermMarks = 0 # so far: each has its place, output shown again has none
    $Global:__LongtermHistory = -1
    $Global:__LongtermRunning = $false
    $Global:__LongtermUserPrompt = $function:prompt

    function Global:__Longterm-Say([string] $Text) {
        [Console]::Write([string][char]27 + ']' + $Text + [char]7)
    }

    # The fields that make a mark ours.
    function Global:__Longterm-Ours {
        $Global:__LongtermMarks++
        "lt=$Global:__LongtermNonce;m=$Global:__LongtermMarks"
    }

    # What must not stand in a mark becomes %XX, byte by byte of its UTF-8 form.
    function Global:__Longterm-Encode([string] $Text) {
        $out = [System.Text.StringBuilder]::new()
        foreach ($b in [System.Text.Encoding]::UTF8.GetBytes($Text)) {
            if ($b -lt 0x20 -or $b -gt 0x7e -or $b -eq 0x25 -or $b -eq 0x3b) {
                [void] $out.AppendFormat('%{0:X2}', $b)
            } else {
                [void] $out.Append([char] $b)
            }
        }
        $out.ToString()
    }

    # The exported variables, where the session finds them.
    function Global:__Longterm-Environ {
        if (-not [System.IO.Directory]::Exists($Global:__LongtermState)) { return }
        $out = [System.Text.StringBuilder]::new()
        [void] $out.Append("longterm-env 1 nul $Global:__LongtermCount`n")
        foreach ($v in [Environment]::GetEnvironmentVariables().GetEnumerator()) {
            [void] $out.Append("$($v.Key)=$($v.Value)$([char]0)")
        }
        [void] $out.Append("# end $Global:__LongtermCount`n")
        $file = [System.IO.Path]::Combine($Global:__LongtermState, 'environ')
        try { [System.IO.File]::WriteAllText($file, $out.ToString()) } catch { }
    }

    # $? and $LASTEXITCODE as the user's prompt and commands see them stay what they
    # were. A failed cmdlet has no number: it counts as 1. $LASTEXITCODE is an older
    # program's when only a cmdlet failed since.
    function Global:prompt {
        $ok = $Global:?
        $code = $Global:LASTEXITCODE
        $failed = if ($ok) { 0 } elseif ($code) { $code } else { 1 }
        $Global:__LongtermCount++
        if ($Global:__LongtermRunning) {
            $Global:__LongtermRunning = $false
            __Longterm-Say "133;D;$failed;$(__Longterm-Ours)"
        }
        __Longterm-Environ
        $here = $executionContext.SessionState.Path.CurrentFileSystemLocation.ProviderPath
        $cwd = __Longterm-Encode $here
        $url = $cwd.Replace('\', '/').Replace(' ', '%20')
        if (-not $url.StartsWith('/')) { $url = '/' + $url }
        __Longterm-Say "7;file://$Global:__LongtermHost$url"
        __Longterm-Say "133;A;$(__Longterm-Ours);n=$Global:__LongtermCount;exit=$failed;cwd=$cwd;b=1"
        # The user's prompt sees the same $? and $LASTEXITCODE.
        $Global:LASTEXITCODE = $code
        if (-not $ok) { Write-Error 'previous command failed' -ErrorAction Ignore }
        $text = & $Global:__LongtermUserPrompt
        $Global:LASTEXITCODE = $code
        # PSReadLine reckons without escape sequences in what prompt returns.
        (@($text) -join '') + [char]27 + "]133;B;$(__Longterm-Ours)" + [char]7
    }

    # PSReadLine's function returns the line that was accepted: the only place before
    # a command runs. Without PSReadLine there is no mark for a command's beginning.
    if (Get-Module -Name PSReadLine) {
        $Global:__LongtermReadLine = $function:PSConsoleHostReadLine
        function Global:PSConsoleHostReadLine {
            $line = & $Global:__LongtermReadLine
            if ("$line".Trim()) {
                $Global:__LongtermRunning = $true
                $cut = ''
                if ($line.Length -gt 16384) { $line16 = $line.Substring(0, 16384); $cut = ';cut=1' } else { $line16 = $line }
                __Longterm-Say "133;C;$(__Longterm-Ours)$cut;cmdline_url=$(__Longterm-Encode $line16)"
            }
            $line
        }
    }
}
