#!/usr/bin/env perl
# A checkout that pays one order once, wherever it is killed. Perl's own modules are enough.
#
# It stores the key and the request before it sends them. Each start sends the stored request again.
use strict;
use warnings;
use Fcntl qw(O_RDONLY);
use HTTP::Tiny;
use IO::Handle;
use JSON::PP;
use Time::HiRes qw(sleep);

my $WAIT = 2;
my %FINAL = (succeeded => 'paid', failed => 'failed', canceled => 'failed');
# After these, the same request with the same key may succeed. HTTP::Tiny says 599 where no answer came.
my %REPEATABLE = map { $_ => 1 } 409, 429, 500, 502, 503, 504, 599;

my $json = JSON::PP->new->canonical;
my $order = $ENV{CHECKOUT_ORDER};
my $file = "$ENV{CHECKOUT_DIRECTORY}/request.json";
my $http = HTTP::Tiny->new(
    timeout => $WAIT + 2,
    default_headers => { Authorization => "Bearer $ENV{RECONCILED_TOKEN}" },
);

sub new_request {
    my $amount = { value => $ENV{CHECKOUT_AMOUNT} + 0, currency => $ENV{CHECKOUT_CURRENCY} };
    my $leg = { provider => $ENV{CHECKOUT_PROVIDER}, instrument => $ENV{CHECKOUT_INSTRUMENT}, amount => $amount };
    my $body = { amount => $amount, reference => $order, legs => [$leg] };
    return { key => "$order/create", body => $json->encode($body) };
}

# The file is there as a whole or not at all, and on the disk before the first byte is sent.
sub store {
    my ($request) = @_;
    open(my $output, '>', "$file.partial") or die "$file.partial: $!";
    print {$output} $json->encode($request);
    $output->flush;
    $output->sync or die "sync: $!";
    close($output) or die "close: $!";
    rename("$file.partial", $file) or die "rename: $!";
    sysopen(my $directory, $ENV{CHECKOUT_DIRECTORY}, O_RDONLY) or die "$ENV{CHECKOUT_DIRECTORY}: $!";
    IO::Handle::sync($directory) or die "sync: $!";
    close($directory);
}

sub stored_request {
    if (-e $file) {
        open(my $input, '<', $file) or die "$file: $!";
        local $/;
        return $json->decode(<$input>);
    }
    my $request = new_request();
    store($request);
    return $request;
}

sub create {
    my ($request) = @_;
    return $http->post("$ENV{RECONCILED_URL}/v1/payments", {
        headers => {
            'Content-Type' => 'application/json',
            'Idempotency-Key' => $request->{key},
            'Prefer' => "wait=$WAIT",
        },
        content => $request->{body},
    });
}

my $request = stored_request();
my $pause = 0.25;
my $answer = create($request);
while (1) {
    my $status = $answer->{status};
    my $payment = $status =~ /^20[012]$/ ? $json->decode($answer->{content}) : undef;
    if ($payment && $FINAL{$payment->{state}}) {
        my $end = { order => $order, result => $FINAL{$payment->{state}}, payment => $payment->{id} };
        print $json->encode($end), "\n";
        exit 0;
    }
    die "The daemon refused the request: $status $answer->{content}\n" if !$payment && !$REPEATABLE{$status};
    # As long as the answer says; otherwise longer each time.
    my $named = $answer->{headers}{'retry-after'};
    sleep(defined $named && $named =~ /^[1-9]\d*$/ ? $named : $pause);
    $pause = $pause * 2 < 5 ? $pause * 2 : 5;
    $answer = $payment ? $http->get("$ENV{RECONCILED_URL}/v1/payments/$payment->{id}") : create($request);
}
