// Charts of run records.
const single = data.series.length === 1;

// Of an interval of a record, and of a second, numbers are by the minute, and null where it is not known or no rate was
// asked for.
// What counts over time are drawn from: seconds where a run has few intervals.
const course = one => one.seconds && one.seconds.length > 0 ? one.seconds : one.intervals;
const kindOf = one => one[place.warmup] && one[place.partial] ? 'warm-up, partial' : one[place.warmup] ? 'warm-up'
    : one[place.partial] ? 'partial' : '';

// A message a minute, whatever an interval's length; 0 where nothing came.
const steps = (one, column = place.messages) => {
    const stretches = course(one);
    const points = stretches.map(each => ({ x: each[place.start], y: each[column], of: each }));
    const last = stretches[stretches.length - 1];
    if (last) points.push({ x: last[place.end], y: last[column], of: last });
    return points;
};
// Records that were written by an earlier release have no latencies by the second.
const latencies = one => course(one).some(each => each[place.p50] !== null) ? course(one) : one.intervals;
const middles = (one, column) => latencies(one).map(each =>
    ({ x: (each[place.start] + each[place.end]) / 2, y: each[column], of: each }));

const dashed = context => kindOf(context.p0.raw.of) ? [5, 4] : undefined;

const spanTitle = items => {
    const of = items[0].raw.of;
    const kind = kindOf(of);
    return elapsed(of[place.start]) + ' – ' + elapsed(of[place.end]) + (kind ? ' (' + kind + ')' : '')
        + (of[place.together] > 1 ? ', mean of ' + of[place.together] : '');
};

const stepOf = (one, index, column, more = {}) => line(single ? one.word : one.label, steps(one, column), own(index), {
    stepped: true, marked: !single, pointStyle: shapes[index % shapes.length], fill: single ? 'origin' : false,
    segment: {
        borderDash: dashed,
        backgroundColor: context => kindOf(context.p0.raw.of) ? faded(own(index), 0.06) : undefined
    },
    ...more
});
const isOffered = one => course(one).some(each => each[place.offered] !== null);

// One below the other they have their times at the same place.
const sameWidth = { afterFit: scale => { scale.width = Math.max(scale.width, innerWidth < 740 ? 66 : 96); } };
const briefly = value => value >= 100 ? number(value) : String(Number(value.toPrecision(3)));
const courseChart = (sets, title, unit, named) => ({
    type: 'line',
    plugins: [warmup],
    data: { datasets: sets },
    options: options(
        { x: timeAxis(), y: axis(title, { beginAtZero: true, grace: '10%', ticks: { callback: briefly, maxTicksLimit: 8 }, ...sameWidth }) },
        { title: spanTitle, label: item => ' ' + (named ? item.dataset.label + ': ' : '') + number(item.raw.y) + unit },
        named)
});
const stepChart = (sets, what, named) => courseChart(sets, what + ' / min', ' ' + what + '/min', named);

// What a rate asked for stands beside what came of it; of several runs that would be too many lines.
const rateChart = () => {
    const sets = data.series.map((one, index) => stepOf(one, index, place.messages));
    const offered = single && isOffered(data.series[0]);
    if (offered) {
        sets.push(line('offered (dashed)', steps(data.series[0], place.offered), own(1),
            { stepped: true, pointStyle: 'rect', borderDash: [6, 4] }));
    }
    return stepChart(sets, 'messages', !single || offered);
};

const errorChart = () => stepChart(data.series.map((one, index) => stepOf(one, index, place.errors,
    single ? { borderColor: colour('--bad'), backgroundColor: faded(colour('--bad'), 0.16), segment: { borderDash: dashed } } : {})),
    'errors', !single);

const openChart = () => courseChart(data.series.map((one, index) => stepOf(one, index, place.open)), 'connections', ' open', !single);

const workersChart = () => courseChart(data.series.map((one, index) => stepOf(one, index, place.processors)),
    'processors', ' processors', !single);

// Of more runs p90 would be a line too many.
const withP90 = data.series.length <= 3;
const latencyChart = () => {
    const values = data.series.flatMap(one => latencies(one).flatMap(each => [each[place.p50], withP90 ? each[place.p90] : null, each[place.p99]]))
        .filter(value => value > 0);
    const wide = values.length > 0 && Math.max(...values) / Math.min(...values) > 12;
    const sets = data.series.flatMap((one, index) => {
        const of = single ? '' : one.label + ' ';
        return [
            line(of + 'p99', middles(one, place.p99), single ? colour('--p99') : own(index),
                { pointStyle: single ? 'triangle' : shapes[index % shapes.length], segment: single ? { borderDash: dashed } : {} }),
            // Of several runs the tail is compared; the others come when their name is chosen.
            ...(withP90 && latencies(one).some(each => each[place.p90] !== null)
                ? [line(of + (single ? 'p90' : 'p90 (dashed)'), middles(one, place.p90), single ? colour('--p90') : own(index),
                    { hidden: !single, pointStyle: single ? 'rect' : shapes[index % shapes.length], borderDash: single ? undefined : [7, 3], segment: single ? { borderDash: dashed } : {} })]
                : []),
            line(of + (single ? 'p50' : 'p50 (dotted)'), middles(one, place.p50), own(index),
                { hidden: !single, pointStyle: single ? 'circle' : shapes[index % shapes.length], borderDash: single ? undefined : [2, 3], segment: single ? { borderDash: dashed } : {} })
        ];
    });
    return {
        type: 'line',
        plugins: [warmup],
        data: { datasets: sets },
        options: options(
            { x: timeAxis(), y: wide
                ? axis('latency (logarithmic)', { type: 'logarithmic', min: Math.min(...values) / 1.25, max: Math.max(...values) * 1.25, ticks: { callback: latencyTick, autoSkip: true } })
                : axis('latency', { beginAtZero: true, grace: '8%', ticks: { callback: latency } }) },
            { title: spanTitle, label: item => ' ' + item.dataset.label + ': ' + latency(item.raw.y) },
            true)
    };
};

const distributionChart = () => {
    const sets = data.series.flatMap((one, index) => {
        const of = single ? '' : one.label + ' ';
        const shape = { pointStyle: shapes[index % shapes.length] };
        const shown = [line(of + one.phase, tail(one.message), own(index), shape)];
        if (one.service.length > 0) {
            shown.push(line(of + 'service (dashed)', tail(one.service), single ? own(1) : own(index),
                { ...shape, borderDash: [4, 3], ...(single ? { pointStyle: 'rect' } : {}) }));
        }
        return shown;
    });
    return tailChart(sets, true);
};

const rankChart = () => {
    const sets = (data.ranks || []).map((one, index) => line(one.label, steps(one), own(index), {
        stepped: true, pointStyle: shapes[index % shapes.length],
        borderDash: index < 8 ? undefined : [5, 3]
    }));
    return {
        type: 'line',
        plugins: [warmup],
        data: { datasets: sets },
        options: options(
            { x: timeAxis(), y: axis('messages / min', { beginAtZero: true, grace: '10%', ticks: { callback: number } }) },
            { title: spanTitle, label: item => ' ' + item.dataset.label + ': ' + number(item.raw.y) + ' messages/min' },
            true)
    };
};

// What was sampled beside the runs, at the moments when it was: on the time axis of the rate.
const sampleChart = ({ unit, lines }) => {
    const sets = lines.map((one, index) => line(one.label, one.points.map(each => ({ x: each[0], y: each[1] })), own(index),
        // A queue's sum may hide behind the one part that has all of it.
        { pointStyle: shapes[index % shapes.length], ...(single && index === 0 ? { fill: 'origin', borderWidth: 3, order: 1 } : {}) }));
    return {
        type: 'line',
        plugins: [warmup],
        data: { datasets: sets },
        options: options(
            { x: timeAxis(), y: axis(unit, { beginAtZero: true, grace: '10%', ticks: { callback: briefly, maxTicksLimit: 8 }, ...sameWidth }) },
            { title: items => elapsed(items[0].raw.x), label: item => ' ' + item.dataset.label + ': ' + number(item.raw.y) + (unit ? ' ' + unit : '') },
            true)
    };
};
const sampleCharts = Object.fromEntries((data.samples || []).map(one => [one.chart, () => sampleChart(one)]));

// Against the rate, logarithmic: where the promise is kept, and from where on it is not. A trial is a list with a value for
// each of data.search.columns, and so is what programs beside it had of it.
const placesOf = names => Object.fromEntries((names || []).map((name, index) => [name, index]));
const ofTrial = placesOf(data.search && data.search.columns), ofBeside = placesOf(data.search && data.search.beside_columns);
const found = {
    id: 'found',
    beforeDatasetsDraw(chart) {
        const { lower, upper } = data.search;
        if (lower === null) return;
        const { ctx, chartArea: area, scales: { x } } = chart;
        const left = x.getPixelForValue(lower), right = Math.max(left + 2, x.getPixelForValue(upper === null ? x.max : upper));
        ctx.save();
        ctx.fillStyle = faded(colour('--soft'), 0.3);
        ctx.fillRect(left, area.top, right - left, area.height);
        ctx.restore();
    }
};
const points = (missed, valueOf) => data.search.trials.map(of => ({ x: of[ofTrial.rate], y: valueOf(of), of }))
    .filter(({ y, of }) => (missed === null || of[ofTrial.missed] === missed) && y !== null && y !== undefined).sort((a, b) => a.x - b.x);
const trialsOf = (name, missed = null) => points(missed, of => of[ofTrial[name]]);
const besideOf = (partner, name, missed = null) => points(missed, of => (of[ofTrial.beside][partner] || [])[ofBeside[name]]);
const scattered = (label, points, stroke, more) => ({
    ...line(label, points, stroke), showLine: false, marked: null, pointRadius: 4, borderWidth: 1.5, ...more
});
const rateAxis = () => axis(data.search.unit + ' a second (logarithmic)', {
    type: 'logarithmic', min: Math.min(...trialsOf('rate').map(of => of.y)) / 1.1, max: Math.max(...trialsOf('rate').map(of => of.y)) * 1.1,
    ticks: { callback: value => latencyTick(value) === null ? null : number(value), autoSkip: true }
});
const trialTitle = items => number(items[0].raw.x) + ' ' + data.search.unit + '/s';
const kneeChart = () => {
    const values = [trialsOf('p50'), trialsOf('p99'), ...data.search.beside.map((_, at) => besideOf(at, 'p99'))].flat().map(of => of.y).filter(us => us > 0);
    return {
        type: 'line',
        plugins: [found],
        data: { datasets: [
            scattered('p99, kept', trialsOf('p99', 0), own(0)), scattered('p99, missed', trialsOf('p99', 1), own(1), { pointStyle: 'crossRot' }),
            scattered('p50, kept', trialsOf('p50', 0), own(2), { pointRadius: 3 }), scattered('p50, missed', trialsOf('p50', 1), own(2), { pointStyle: 'crossRot', pointRadius: 3 }),
            ...data.search.beside.flatMap((program, at) => [
                scattered('p99 of ' + program + ', kept', besideOf(at, 'p99', 0), own(4 + at)),
                scattered('p99 of ' + program + ', missed', besideOf(at, 'p99', 1), own(4 + at), { pointStyle: 'crossRot' })])
        ] },
        options: options(
            { x: rateAxis(), y: axis('latency (logarithmic)', { type: 'logarithmic', min: Math.min(...values) / 1.25, max: Math.max(...values) * 1.25, ticks: { callback: latencyTick, autoSkip: true } }) },
            { title: trialTitle, label: item => ' ' + item.dataset.label + ': ' + latency(item.raw.y) }, true)
    };
};
const lostChart = () => ({
    type: 'line',
    plugins: [found],
    data: { datasets: [
        scattered('% lost, kept', trialsOf('lost', 0), own(0)), scattered('% lost, missed', trialsOf('lost', 1), own(1), { pointStyle: 'crossRot' }),
        ...[['% errors', 'errors', 'triangle'], ['% not begun', 'not_begun', 'rectRot']].filter(([, name]) => trialsOf(name).some(of => of.y > 0))
            .map(([label, name, pointStyle], at) => scattered(label, trialsOf(name), own(5 + at), { pointStyle, pointRadius: 3 })),
        scattered('backlog', trialsOf('backlog'), own(3), { yAxisID: 'y2', pointStyle: 'rect', pointRadius: 3 }),
        ...data.search.beside.map((program, at) =>
            scattered('backlog of ' + program, besideOf(at, 'backlog'), own(4 + at), { yAxisID: 'y2', pointStyle: 'rect', pointRadius: 3 }))
    ] },
    options: options(
        {
            x: rateAxis(), y: axis('% lost', { min: 0, ticks: { callback: number } }),
            y2: axis('backlog', { axis: 'y', position: 'right', min: 0, grace: '8%', grid: { drawOnChartArea: false }, ticks: { callback: briefly } })
        },
        { title: trialTitle, label: item => ' ' + item.dataset.label + ': ' + number(item.raw.y) + (item.dataset.yAxisID === 'y2' ? '' : ' %') }, true)
});

show({ ...sampleCharts, ...data.search ? { 'chart-knee': kneeChart, 'chart-lost': lostChart } : {}, 'chart-rate': rateChart, 'chart-ranks': rankChart, 'chart-latency': latencyChart, 'chart-errors': errorChart,
    'chart-open': openChart, 'chart-workers': workersChart,
    'chart-distribution': distributionChart });
