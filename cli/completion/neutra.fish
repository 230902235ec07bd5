# Completion of neutra for fish; written by `neutra completion fish`.

# The words before the cursor that are neither options nor their values.
function __neutra_words
    set -l value 0
    for word in (commandline -opc)[2..]
        if test $value = 1
            set value 0
            continue
        end
        switch $word
            case @FLAGS@ '-*=*'
            case '-*'
                set value 1
            case '*'
                echo -- $word
        end
    end
end

# Are there so many words, at least and at most, and are these the first?
function __neutra_when
    set -l words (__neutra_words)
    set -l number (count $words)
    test $number -ge $argv[1] -a $number -le $argv[2]; or return 1
    set -l first $argv[3..]
    test (count $first) = 0; or test "$words[1..$(count $first)]" = "$first"
end

# Offers words, and files by extension.
function __neutra_offer -a offered files
    string split -n ' ' -- $offered
    set -l token (string replace -r '^-[^=]*=' '' -- (commandline -ct))
    for kind in (string split -n ' ' -- $files)
        switch $kind
            case any
                __fish_complete_path $token
            case folders
                __fish_complete_directories $token ''
            case '*'
                __fish_complete_path $token | string match -r '.*(?:/|\.'$kind')(?:\t.*)?$'
        end
    end
end

complete -c neutra -f
@LINES@